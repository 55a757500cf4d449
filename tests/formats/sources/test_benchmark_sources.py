import gzip
from itertools import islice

import pytest

from convinse.formats.converters import convert, find_converter, guess_format
from convinse.formats.mrqa import read_examples
from convinse.formats.multiqa.answers import answers_of, candidates, is_answered
from convinse.formats.multiqa.files import read_entries
from convinse.formats.multiqa.from_neutral import NOT_THERE
from convinse.formats.multiqa.validate import validate
from convinse.formats.squad import read_squad
from convinse.support.errors import ConfigError, DataError
from convinse.support.jsonlines import read_lines
from documentation import block
from places import DATA
from written import write_lines


def as_multiqa(path, name):
    """The contexts of a file; its format is recognised, and what is written is valid."""
    assert guess_format(path) == name
    target = path.with_name("multiqa.out")
    _, counts = convert(path, target, "multiqa", quiet=True)
    assert NOT_THERE not in counts  # each place that the source gives is right
    assert validate(target).problems == []
    return list(read_entries(target))


def as_mrqa(path):
    convert(path, path.with_name("mrqa.out"), "mrqa", quiet=True)
    return list(read_examples(path.with_name("mrqa.out")))


def answers(question):
    return [answer for candidate in candidates(question) for answer in answers_of(candidate)]


def places(question):
    return [
        [
            (place["doc_id"], place["part"], place["start_byte"], place["text"])
            for place in answer["extractive"]["instances"]
        ]
        for answer in answers(question)
        if "extractive" in answer
    ]


def title_and_text(document):
    return document["title"], document["text"]


BOOLQ = {"question": "is ice cold", "title": "Ice", "answer": True, "passage": "Ice is cold, there is no doubt."}


def test_boolq_becomes_answers_of_yes_and_no(tmp_path):
    hot = {**BOOLQ, "question": "is ice hot", "answer": False}
    path = write_lines(tmp_path / "a.jsonl", BOOLQ, hot, {**BOOLQ, "passage": "x"})
    first, second = as_multiqa(path, "boolq")
    assert [answers(question) for question in first["qas"]] == [[{"yesno": "yes"}], [{"yesno": "no"}]]
    assert title_and_text(first["context"]["documents"][0]) == ("Ice", BOOLQ["passage"])
    assert len({question["qid"] for question in (*first["qas"], *second["qas"])}) == 3
    (example, _) = as_mrqa(path)
    assert [question.answers for question in example.qas] == [["yes"], ["no"]]
    assert not any(
        question.detected_answers for question in example.qas
    )  # `no` stands in the passage, but is not a span


HOTPOT = {
    "_id": "h1",
    "question": "In which sea is the island of the singer?",
    "answer": "Cold Sea",
    "type": "bridge",
    "level": "hard",
    "supporting_facts": [["Singer", 1], ["Island", 0], ["Island", 7], ["Gone", 0]],
    "context": [
        ["Singer", ["She sings.", " She lives on an island."]],
        ["Island", ["It is in the Cold Sea.", " The Cold Sea is large."]],
    ],
}


@pytest.mark.parametrize("layout", ["list", "lines"])
def test_hotpotqa_becomes_documents_with_supporting_context(tmp_path, layout):
    questions = [HOTPOT, {**HOTPOT, "_id": "h2", "answer": "yes"}]
    path = write_lines(tmp_path / "a.json", *([questions] if layout == "list" else questions))
    first, second = as_multiqa(path, "hotpotqa")
    singer, island = first["context"]["documents"]
    assert (singer["title"], island["title"]) == ("Singer", "Island")
    assert island["metadata"] == {"text": {"sentence_start_bytes": [0, len(HOTPOT["context"][1][1][0])]}}
    (question,) = first["qas"]
    assert (question["qid"], question["metadata"]) == ("h1", {"type": "bridge", "level": "hard"})
    assert [(fact["doc_id"], fact["start_byte"], fact["text"]) for fact in question["supporting_context"]] == [
        (0, 10, " She lives on an island."),
        (1, 0, "It is in the Cold Sea."),
    ]
    assert places(question) == [[(1, "text", 13, "Cold Sea"), (1, "text", 27, "Cold Sea")]]
    assert answers(second["qas"][0]) == [{"yesno": "yes"}]
    neutral = next(find_converter("hotpotqa").read(path).records).questions[0]
    assert [fact["start_byte"] for fact in neutral.extras["supporting_context"]] == [10, 0]
    assert as_mrqa(path)[0].context.startswith("[DOC] [TLE] Singer [PAR] She sings. She lives")


@pytest.mark.parametrize("kind", ["boolq", "hotpotqa"])
def test_questions_without_answers_are_read(tmp_path, kind):
    good = {"boolq": BOOLQ, "hotpotqa": HOTPOT}[kind]
    unlabelled = {key: good[key] for key in good if key in ("_id", "question", "context", "title", "passage")}
    convert(write_lines(tmp_path / "a.json", unlabelled), tmp_path / "out", "multiqa", kind, quiet=True)
    (found,) = read_entries(tmp_path / "out")
    assert not is_answered(found["qas"][0]) and "supporting_context" not in found["qas"][0]


WRONG_HOTPOT = r"a\.json:2: no question of HotpotQA: "


@pytest.mark.parametrize(
    ("name", "good", "change", "reason"),
    [
        ("boolq", BOOLQ, {"answer": "yes"}, r"a\.json:2: .*answer"),
        ("hotpotqa", HOTPOT, {"context": None}, f"{WRONG_HOTPOT}.*array"),
        ("hotpotqa", HOTPOT, {"question": 3}, f"{WRONG_HOTPOT}.*str"),
        ("hotpotqa", HOTPOT, {"supporting_facts": [["x"]]}, f"{WRONG_HOTPOT}.*length 2"),
        ("hotpotqa", {}, {"_id": "h"}, "the key 'context' is missing"),
    ],
)
def test_fault_of_a_line_names_it(tmp_path, name, good, change, reason):
    path = write_lines(tmp_path / "a.json", good, {**good, **change})
    with pytest.raises(DataError, match=reason):
        convert(path, tmp_path / "out", "multiqa", name, quiet=True)


# a data set of a user, as in docs/datasets.md -------------------------------------------------------------------------


def test_a_converter_is_one_class_in_one_file(tmp_path, monkeypatch):
    source = block("docs/datasets.md", "python")
    assert len(source.splitlines()) <= 20
    (tmp_path / "trivia_converter.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    path = write_lines(tmp_path / "a.jsonl", {"q": "Where is it?", "text": "It is here.", "spans": [[6, "here"]]})
    convert(path, tmp_path / "out", "multiqa", "trivia_converter:Trivia", quiet=True)
    assert validate(tmp_path / "out").problems == []
    (found,) = read_entries(tmp_path / "out")
    assert places(found["qas"][0]) == [[(0, "text", 6, "here")]]
    assert find_converter("trivia").read(path).name == "Trivia"  # by its name once it is imported
    convert(path, tmp_path / "squad.json", "squad", "trivia", quiet=True)
    ((_, paragraph),) = read_squad(tmp_path / "squad.json")[1]
    assert paragraph.qas[0].answers[0].answer_start == 6


# the data sets --------------------------------------------------------------------------------------------------------


def test_the_published_boolq_converts(tmp_path):
    source = DATA / "boolq" / "dev.jsonl.gz"
    if not source.is_file():
        pytest.skip(f"{source} is not there")
    with gzip.open(source) as packed:
        (tmp_path / "data").write_bytes(b"".join(islice(packed, 101)))
    assert guess_format(tmp_path / "data") == "boolq"
    assert convert(tmp_path / "data", tmp_path / "multiqa", "multiqa", quiet=True)[1]["questions"] == 101
    assert validate(tmp_path / "multiqa").problems == []
    for to in ("mrqa", "squad"):
        assert convert(tmp_path / "multiqa", tmp_path / to, to, quiet=True)[1]["questions"] == 101
    qids = {question.qid for example in read_examples(tmp_path / "mrqa") for question in example.qas}
    assert len(qids) == 101
    labels = [line["answer"] for _, line in read_lines(tmp_path / "data")]
    found = [question for entry in read_entries(tmp_path / "multiqa") for question in entry["qas"]]
    assert [answers(question) == [{"yesno": "yes"}] for question in found] == labels


@pytest.mark.parametrize("name", ["qamr", "wikitablequestions"])
def test_a_data_set_of_an_earlier_version_is_refused(name):
    with pytest.raises(ConfigError, match=f"'{name}' is no longer read; write a converter of your own"):
        find_converter(name)
