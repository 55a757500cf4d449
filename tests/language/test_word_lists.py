"""English words stand in the data files of `convinse/language/`; exceptions are in tests/cases/word_lists.yml."""

from word_list_rule import word_lists

from case_tables import cases, each_case
from places import ROOT

ALLOWED = {(case["file"], name) for case in cases("word_lists", "file") for name in case["names"]}


def test_no_english_word_list_stands_outside_of_language():
    package = ROOT / "convinse"
    strayed = []
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package).as_posix()
        if not place.startswith("language/"):
            strayed += [
                f"convinse/{place}:{words.line}: {words.name}: {' '.join(words.words[:6])}"
                for words in word_lists(path.read_text(encoding="utf-8"))
                if (place, words.name) not in ALLOWED
            ]
    assert not strayed, (
        "move them to a file of convinse/language/english, or allow them in word_lists.yml with a reason"
    )


@each_case("word_lists", "source")
def test_a_list_of_words_is_seen(case):
    assert [words for words in word_lists(case["source"]) if len(words.words) >= 4]
