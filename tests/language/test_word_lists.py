"""English words stand in the data files of `convinse/language/`, and nowhere else in the package."""

import pytest
from word_list_rule import word_lists

from places import ROOT

OPTIONS = "names of options of the command line or of configuration keys"
KEYS = "keys of records in files"
MARKUP = "tags and classes of HTML, or names of the MediaWiki API"
CODES = "codes of languages, not words"
HEADINGS = "headings of tables"
NAMES = "names in this project or of models"
ALLOWED = {
    "cli/develop.py": {"given": OPTIONS},
    "cli/experiments.py": dict.fromkeys(("_add_pipeline", "_add_train", "_TRAIN_OPTIONS"), OPTIONS),
    "cli/passages.py": {"TRAINING": OPTIONS, "missing": OPTIONS},
    "encoder/checkpoint.py": {"Task": NAMES, "_MODEL_CLASSES": NAMES, "load_checkpoint": NAMES},
    "encoder/engine.py": {"Output": NAMES},
    "encoder/onnx_export.py": {"_ORDER": NAMES},
    "experiment.py": {"_GROUPS": KEYS, "_SUBSETS": NAMES},
    "formats/conversations/single_questions.py": {"_TimeQuestion": KEYS},
    "formats/mrqa.py": {"counts": KEYS},
    "formats/multiqa/dialects.py": {"TYPES": KEYS},
    "formats/sources/hotpotqa.py": {"_KNOWN": KEYS},
    "formats/squad.py": {"counts": KEYS},
    "knowledge_base/close_names.py": {"Sort": NAMES},
    "serving/mcp.py": {"SourceList": NAMES},
    "heterogeneous_answering/abstention.py": {"_LANGUAGES": CODES},
    "neighbours/pyterrier.py": {"_RESULTS": KEYS},
    "reports/content.py": {"_GROUPS": HEADINGS, "_STAGES": NAMES, "_compared": HEADINGS},
    "heterogeneous_answering/candidates.py": {"RoleKind": NAMES},
    "heterogeneous_answering/llm.py": {"_SOURCES": NAMES},
    "identity.py": {"_HOW_ASKED": OPTIONS},
    "question_understanding/llm.py": {"_SCHEMA": KEYS},
    "passages/analysis.py": {"_STEMMERS": CODES, "_UNSTEMMED": CODES, "_OWN_LETTERS": CODES},
    "records/evidence.py": {"SOURCES": NAMES},
    "records/periods.py": {"_NOW": "behind a dash: ranges of dates that go on, as English writes them"},
    "records/literals.py": dict.fromkeys(
        ("_COARSE_LABEL", "label"), "labels of centuries, as the API writes dates: in English"
    ),
    "records/units.py": dict.fromkeys(("_CHAINS", "_MEASURES", "UNIT"), "units as English writes them"),
    "records/written_values.py": dict.fromkeys(
        ("ORDINAL", "_SCALES", "_SHORT_SCALES", "_ATTACHED", "_SHOWN", "_DATES", "_number"),
        "dates, numbers and units are read as English writes them; the list of the language is the check of the scales",
    ),
    "training/answer_ranking.py": {"_RISING": NAMES},
    "wikipedia/api.py": {"_NO_PAGE": MARKUP, "params": MARKUP},
    "wikipedia/flatten.py": {"_TAG": MARKUP, "_LINES": MARKUP, "walk": MARKUP},
    "wikipedia/document.py": dict.fromkeys(
        ("_BESIDE", "_DATA_CLASSES", "_FILE_NAME", "_NESTING", "walk", "_is_infobox"), MARKUP
    ),
}


def test_no_english_word_list_stands_outside_of_language():
    package = ROOT / "convinse"
    strayed = []
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package).as_posix()
        if not place.startswith("language/"):
            strayed += [
                f"convinse/{place}:{words.line}: {words.name}: {' '.join(words.words[:6])}"
                for words in word_lists(path.read_text(encoding="utf-8"))
                if words.name not in ALLOWED.get(place, ())
            ]
    assert not strayed, "move them to a file of convinse/language/english, or allow them here with a reason"


@pytest.mark.parametrize(
    "source",
    [
        '_FILLERS = frozenset("and but so then".split())',
        '_FILLERS = set("and, but, so, then".split(", "))',
        '_FILLERS = frozenset(("and", "but", "so", "then"))',
        '_FILLERS = {"and", "but", "so", "then", *OTHERS}',
        '_FILLERS: list[str] = ["and", "but", "so", "o\'clock"]',
        '_FORMS = {"wrote": "write", "won": "win", "sang": "sing", "dead": "die"}',
        '_NUMBERS = {"one": 1, "two": 2, "three": 3, "minus": -1}',
        '_FORMS = {"big": ("area", "size"), "tall": ("height",), "old": ("age",), "far": ("distance",)}',
        'def f(word):\n    return word in ("this", "that", "these", "those")',
        'class A:\n    light = keywords("yes ever really actually")',
        'import re\n_DENIAL = re.compile(r"\\b(?:not|never|no|nobody)\\b", re.I)',
        'import re\n_DENIAL = re.compile(r"\\b(?:not|refus\\w+|den(?:y|ied)|fail\\w+)\\b|n\'t")',
        'import re\n_ABOUT = re.compile(rf"^{START}(?:what|how|who|when) about")',
        'f(x for x in y if x not in "the of a an".split())',
    ],
)
def test_a_list_of_words_is_seen(source):
    assert [words for words in word_lists(source) if len(words.words) >= 4]
