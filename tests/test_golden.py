"""The answers, evidences and command outputs of the project as it ships, compared with the files in tests/golden.

`--update-golden` writes them anew; a commit that changes one says which questions changed, and why. The answers are of a sample of the
conversations by default; `--golden-all` compares all of them, and an update always computes all.
Numbers may differ by what another processor computes differently with a quantised model (`TOLERANCE`).
"""

import difflib
import hashlib
import json
import re
import shutil
from collections import Counter
from contextlib import closing

import pytest

from convinse import Pipeline, load_config
from convinse.cli import main
from convinse.experiment import read_part
from convinse.records.evidence import SOURCES
from convinse.wikipedia.dump import WikipediaDump
from places import ROOT, SNAPSHOT, SNAPSHOT_SOURCES
from written import json_lines, write

GOLDEN = ROOT / "tests" / "golden"
INPUTS = GOLDEN / "inputs"
PARTS = ("test", "natural-dev", "natural", "natural-fresh")
ROUNDING = 0.006
# Of scores of quantised models, which other processors compute a little differently; see CONTRIBUTING. What is chosen by a comparison of nearly
# equal scores is then another: one answer in so many, and so many of the evidences that a command shows.
TOLERANCE, ONE_OTHER_IN, OTHER_EVIDENCES = 0.02, 50, 4
SAMPLED = {"config": 40, "lexical": 16}  # configuration -> one conversation of so many is answered by default
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
# names of tantivy's files and durations
RANDOM = re.compile(r"(?<=/)[0-9a-f]{32}(?=\.)|(?<=│ seconds)[ │]+[\d.]+ │|\([\d.]+ s\)")


@pytest.fixture
def updating(request):
    return request.config.getoption("--update-golden")


def answers(pipeline, history, parts, step):
    """The id and score of the five best answers of each question, by its part and id; the history is "gold" or "predicted"."""
    found = {}
    for part in parts:
        conversations = read_part(pipeline.config, part)[::step]
        for conversation in pipeline.run(conversations, SOURCES, history == "gold"):
            for turn in conversation["questions"]:
                best = [[answer["answer"]["id"], round(answer["score"], 4)] for answer in turn["pred_answers"][:5]]
                found[f"{part} {turn['question_id']}"] = best
    return found


def is_same(expected, answer, tolerance):
    """Whether five answers are the same: as probable, and in the same order but for those that are equally probable."""
    scores, before = dict(answer), dict(expected)
    last = min([*before.values(), *scores.values()], default=0.0)
    return (
        len(answer) == len(expected)
        and all(abs(scores.get(name, last) - before.get(name, last)) <= tolerance for name in scores.keys() | before)
        and all(abs(score - other) <= tolerance for (_, score), (_, other) in zip(answer, expected, strict=True))
    )


def pytest_generate_tests(metafunc):
    """Samples of all parts are one case; of whole parts each is one, so that several processes share them."""
    if "parts" in metafunc.fixturenames:
        option = metafunc.config.getoption
        parts = [[part] for part in PARTS] if option("--golden-all") and not option("--update-golden") else [PARTS]
        metafunc.parametrize("parts", parts, ids="-".join)


@pytest.mark.timeout(3600)  # seconds: all questions take ten minutes on a quiet machine
@pytest.mark.parametrize("configuration", SAMPLED)
def test_answers(configuration, parts, updating, request, closed):
    is_whole = updating or request.config.getoption("--golden-all")
    has_model = configuration == "config"
    # most questions in full are the same after either history: the model reads their evidences once
    pipeline = closed(Pipeline(load_config(f"{configuration}.yml", ers_cache_path="cache")))
    tolerance = TOLERANCE if has_model else ROUNDING
    for history in ("gold", "predicted"):
        found = answers(pipeline, history, parts, 1 if is_whole else SAMPLED[configuration])
        file = GOLDEN / "answers" / f"{configuration}-{history}.jsonl"
        if updating:
            lines = (json.dumps([name, answer], ensure_ascii=False) + "\n" for name, answer in found.items())
            write(file, "".join(lines))
        expected = {name: answer for name, answer in json_lines(file) if name.split()[0] in parts}
        assert found.keys() == expected.keys() if is_whole else found.keys() < expected.keys()
        changed = {
            name: (expected[name], new) for name, new in found.items() if not is_same(expected[name], new, tolerance)
        }
        most = len(found) // ONE_OTHER_IN if has_model else 0
        assert len(changed) <= most, f"{len(changed)} of {len(found)} questions have other answers ({history} history)"


def test_evidences_of_the_pages(updating):
    lines = []
    with closing(WikipediaDump(SNAPSHOT / "wikipedia.db")) as dump:
        for item in dump.items():
            evidences = dump.get(item)
            digest = hashlib.sha256(json.dumps(evidences, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
            counts = Counter(evidence["source"] for evidence in evidences)
            lines.append(
                " ".join([item, *(f"{source}={counts[source]}" for source in SOURCES[1:]), digest[:16]]) + "\n"
            )
    compare(GOLDEN / "evidences.txt", "".join(lines), updating)


# name of the golden file -> arguments, and the files that the command writes. They run in this order in one folder.
COMMANDS = {
    "ask": (["ask", "Who directed the film Titanic?", "And how long is it?", "Who played Rose?"], []),
    "ask-small": (["ask", "--config", "small.yml", "Who directed the film Titanic?", "and Blade Runner?"], []),
    "ask-json": (["ask", "--json", "--config", "lexical.yml", "--sources", "kb_info", "Who wrote Dracula?"], []),
    "ask-nothing-known": (["ask", "Who is the mayor of Zzyzx?"], []),
    "pipeline": (["pipeline", "kb_info", "lexical.yml", "--limit", "2"], []),
    "pipeline-again": (["pipeline", "kb_info", "lexical.yml", "--limit", "3", "--pred-answers", "--restart"], []),
    "evaluate-answers": (["evaluate", "answers", "results/lexical/kb_info/turns.jsonl"], []),
    "evaluate-compare": (["evaluate", "compare", *["results/lexical/kb_info/turns.jsonl"] * 2], []),
    "annotate": (["annotate", "--part", "dev", "lexical.yml"], []),
    "kb-build": (["kb", "build", SNAPSHOT_SOURCES / "entities.json.gz", "--output", "kb"], []),
    "kb-info": (["kb", "info", "kb"], []),
    "kb-search": (["kb", "search", "kb", "Who directed Titanic?"], []),
    "wikipedia-build": (["wikipedia", "build", "pages.jsonl", "--output", "w.db"], []),
    "wikipedia-info": (["wikipedia", "info", "w.db"], []),
    "retrieve-index": (["retrieve", "index", "poleval/wiki-trivia/passages.jl", "--output", "i/wiki-trivia", "--language", "pl"], []),
    "retrieve-search": (["retrieve", "search", "i/wiki-trivia", "poleval/wiki-trivia/questions.jl", "--output", "run.trec",
                         "--format", "trec", "--top", "3"], ["run.trec"]),
    "evaluate-poleval": (["evaluate", "poleval", "poleval/expected.tsv", "poleval/expected.tsv"], []),
    "convert-mrqa": (["convert", "squad.json", "mrqa.jsonl", "--to", "mrqa"], ["mrqa.jsonl"]),
    "convert-multiqa": (["convert", "mrqa.jsonl", "multiqa.jsonl", "--to", "multiqa"], ["multiqa.jsonl"]),
    "convert-squad": (["convert", "multiqa.jsonl", "again.json", "--to", "squad"], ["again.json"]),
    "validate-squad": (["validate", "squad.json"], []),
    "validate-mrqa": (["validate", "mrqa.jsonl"], []),
    "validate-multiqa": (["validate", "multiqa.jsonl"], []),
    "visualize": (["visualize", "mrqa.jsonl"], []),
    "read": (["read", "squad.json", "--output", "read.json", "--na-probs", "read-na.json"], ["read.json", "read-na.json"]),
    "evaluate-mrqa": (["evaluate", "mrqa", "mrqa.jsonl", "predictions.json"], []),
    "evaluate-squad": (["evaluate", "squad", "squad.json", "predictions.json", "--na-probs", "na-probs.json"], []),
    "evaluate-klue-mrc": (["evaluate", "klue-mrc", "squad.json", "predictions.json"], []),
    "verify-kb": (["verify", "kb"], []),
    "verify-dump": (["verify", "w.db"], []),
    "verify-passages": (["verify", "i/wiki-trivia"], []),
    "verify-results": (["verify", "results"], []),
    "verify-missing": (["verify", "missing"], []),
    "pipeline-unknown-key": (["pipeline", "unknown-key.yml"], []),
    "ask-unknown-source": (["ask", "--sources", "kb_books", "Who?"], []),
}  # fmt: skip


SAID_WITH_MODELS = {"ask", "ask-small", "ask-nothing-known"}
WITH_MODELS = {*SAID_WITH_MODELS, "read"}


def test_outputs_of_the_commands(workdir, capsys, updating):
    pytest.importorskip("ir_measures")
    for file in INPUTS.iterdir():
        shutil.copy(file, workdir)
    shutil.copytree(ROOT / "examples" / "poleval", "poleval")
    write("unknown-key.yml", "evs_modle: x\n")
    pages = [
        {
            "title": title,
            "url": "u",
            "qid": qid,
            "html": (SNAPSHOT_SOURCES / "pages" / f"{name}.html").read_text(encoding="utf-8"),
        }
        for title, qid, name in [("Dracula", "Q41542", "Dracula"), ("A-ha", "Q44190", "A-ha")]
    ]
    write("pages.jsonl", "".join(json.dumps(page) + "\n" for page in pages))
    for name, (arguments, files) in COMMANDS.items():
        capsys.readouterr()
        status = main([*map(str, arguments), *([] if arguments[0] == "evaluate" else ["--quiet"])])
        captured = capsys.readouterr()
        shown = f"status {status}\n--- standard output\n{captured.out}--- standard error\n{captured.err}"
        for file in files:
            shown += f"--- {file}\n{(workdir / file).read_text(encoding='utf-8')}"
        compare(GOLDEN / "commands" / f"{name}.txt", RANDOM.sub(" #", shown.replace(str(workdir), ".")), updating)
    assert {file.stem for file in (GOLDEN / "commands").iterdir()} == COMMANDS.keys()


def compare(file, text, updating):
    """The text of a golden file is this text; numbers with a point may be rounded otherwise."""
    if updating:
        write(file, text)
    expected = file.read_text(encoding="utf-8")
    alike = is_said_alike if file.stem in SAID_WITH_MODELS else is_alike
    if not alike(text, expected, TOLERANCE if file.stem in WITH_MODELS else ROUNDING):
        pytest.fail(
            "\n".join(difflib.unified_diff(expected.splitlines(), text.splitlines(), str(file.name), lineterm="", n=0))
        )


def is_alike(text, expected, tolerance):
    numbers, golden = ([float(number) for number in NUMBER.findall(one)] for one in (text, expected))
    return NUMBER.sub("#", text) == NUMBER.sub("#", expected) and numbers == pytest.approx(golden, abs=tolerance)


EVIDENCE = re.compile(r" {6,}(?:\[\d+\] +)?(?:(0\.\d+) +)?(\[(?:kb|text|table|info)\] .*)")
ANSWER = re.compile(r"  \d+\. (.*)  (\d\.\d+)")


def is_said_alike(text, expected, tolerance):
    """Whether `ask` says the same where scores differ a little: evidences are in any order, and improbable answers may be missing."""
    (lines, scores), (lines_before, scores_before) = said(text, tolerance), said(expected, tolerance)
    both = scores.keys() & scores_before.keys()
    others = len(scores) + len(scores_before) - 2 * len(both)
    return (
        is_alike("\n".join(lines), "\n".join(lines_before), tolerance)
        and others <= OTHER_EVIDENCES
        and all(
            abs(scores[one] - scores_before[one]) <= tolerance for one in both if scores[one] and scores_before[one]
        )
    )


def said(text, tolerance):
    """The lines of questions and probable answers, without the numbers of evidences, and the score of each evidence (0: it shows none)."""
    lines, scores = [], {}
    for line in text.splitlines():
        if match := EVIDENCE.fullmatch(line):
            turn = sum(other.startswith("> ") for other in lines)
            scores[turn, match[2]] = float(match[1] or 0)
        elif not ((match := ANSWER.fullmatch(line)) and float(match[2]) <= 2 * tolerance):
            lines.append(re.sub(r" \[\d+\]", "", line))
    return lines, scores


def test_what_is_said_with_a_model_may_differ_by_what_a_processor_does():
    text = "> Who?\n  1. Ann (Q1)  0.700\n       [1] [kb] a\n  2. Bob (Q2)  0.012\n  further evidences:\n      0.43 [kb] b\n      0.42 [kb] c\n"
    swapped = (
        "> Who?\n  1. Ann (Q1)  0.708\n       [1] [kb] a\n  further evidences:\n      0.43 [kb] c\n      0.43 [kb] b\n"
    )
    assert is_said_alike(swapped, text, TOLERANCE)
    for old, new in [("Ann", "Eve"), ("0.708", "0.75"), ("0.43 [kb] c", "0.46 [kb] c"), ("Who", "When")]:
        assert not is_said_alike(swapped.replace(old, new), text, TOLERANCE)
    assert not is_said_alike(swapped.replace("[kb]", "[info]"), text, TOLERANCE)
