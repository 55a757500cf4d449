"""SQuAD files: typed reading, errors by JSON path, writing."""

import gzip
import json

import pytest

from convinse.benchmarks import squad
from convinse.errors import DataError


def document(**changes):
    answer = {"text": "Köln", "answer_start": 3}
    question = {"id": "q1", "question": "Wo?", "answers": [answer], "is_impossible": False}
    paragraph = {"context": "In Köln.", "qas": [question]}
    article = {"title": "T", "paragraphs": [paragraph]}
    whole = {"version": "v2.0", "data": [article]}
    for key, value in changes.items():
        next(part for part in (answer, question, paragraph, article, whole) if key in part)[key] = value
    return whole


@pytest.fixture
def written(workdir):
    def write(value, name="data.json"):
        path = workdir / name
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


def test_records(written):
    data = squad.read_squad(written(document(), "data.json.gz"))
    assert data == squad.SquadFile(
        [squad.Article([squad.Paragraph("In Köln.", [squad.Question("Wo?", "q1", [squad.Answer("Köln", 3)])])], "T")],
        "v2.0",
    )


def test_squad_1_and_klue(written):
    one = {"data": [{"paragraphs": [{"context": "a b", "qas": [{"guid": "g", "question": "?", "answers": []}]}]}]}
    (question,) = squad.read_squad(written(one)).data[0].paragraphs[0].qas
    assert question.id == "g" and not question.is_impossible and question.extras == {}


def test_unknown_keys_come_back(written, workdir):
    whole = document()
    whole["more"] = whole["data"][0]["source"] = whole["data"][0]["paragraphs"][0]["document_id"] = [1]
    question = whole["data"][0]["paragraphs"][0]["qas"][0]
    question |= {"plausible_answers": [{"text": "In", "answer_start": 0, "x": None}], "y": {}}
    question["answers"][0]["answer_id"] = 9
    data = squad.read_squad(written(whole))
    squad.write_squad(workdir / "out.json", data.data, extras=data.extras)
    assert json.loads((workdir / "out.json").read_text()) == whole


@pytest.mark.parametrize(
    "changes, words",
    [
        (
            {"answer_start": 5},
            ["$.data[0].paragraphs[0].qas[0].answers[0]", "q1", "'Köln' at 5 is outside", "8 characters"],
        ),
        ({"answer_start": -2}, ["at -2"]),
        ({"answer_start": "3"}, ["$.data[0].paragraphs[0].qas[0].answers[0].answer_start"]),
        ({"question": 1}, ["$.data[0].paragraphs[0].qas[0].question"]),
        ({"qas": None}, ["$.data[0].paragraphs[0].qas"]),
        ({"data": {}}, ["$.data", "SQuAD"]),
    ],
)
def test_what_is_wrong_is_named_by_its_path(written, changes, words):
    with pytest.raises(DataError) as caught:
        squad.read_squad(path := written(document(**changes)))
    for word in (str(path), *words):
        assert word in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b'{"data": ["\xff"]}', b"\x1f\x8b\x08broken", b"[" * 100_000])
def test_no_json(written, content):
    with pytest.raises(DataError, match=r"data\.json"):
        squad.read_squad(written(content))


def test_an_id_twice(written):
    whole = document()
    whole["data"] *= 2
    with pytest.raises(DataError, match=r"\$\.data\[1\]\.paragraphs\[0\]\.qas\[0\].*'q1' appears twice"):
        squad.read_squad(written(whole))


def test_validate(written):
    assert squad.validate(written(document())) == (
        [],
        [],
        {
            "format": "squad",
            "version": "v2.0",
            "articles": 1,
            "paragraphs": 1,
            "questions": 1,
            "unanswerable": 0,
            "answers": 1,
        },
    )
    assert "at 2 is ' Köl', not 'Köln'" in squad.validate(written(document(answer_start=2))).problems[0]
    assert "no id" in squad.validate(written(document(id=""))).problems[0]
    assert "yet it has answers" in squad.validate(written(document(is_impossible=True))).warnings[0]
    assert len(squad.validate(written(document(answer_start=99))).problems) == 1
