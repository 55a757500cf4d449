import json

import pytest

from convinse.config import Config
from convinse.formats.convmix import read_conversations
from convinse.support.errors import DataError

DATA = [
    {
        "conv_id": name,
        "domain": "books",
        "extra": {"kept": True},
        "questions": [
            {
                "turn": 0,
                "question_id": f"{name}-0",
                "question": "Wer schrieb “Träume”?",
                "answers": [{"id": "Q1", "label": "é"}],
            }
        ],
    }
    for name in ("c0", "c1")
]


@pytest.fixture
def written(workdir):
    def write(content, name="data.json"):
        path = workdir / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(path):
    with pytest.raises(DataError) as caught:
        read_conversations(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def test_a_list_and_a_conversation_a_line_read_the_same(written):
    assert read_conversations(written(json.dumps(DATA, indent=1))) == DATA
    lines = "".join(json.dumps(conversation) + "\n" for conversation in DATA)
    assert read_conversations(written(lines, "data.jsonl")) == DATA
    assert read_conversations(written(lines.replace("\n", "\n\n"), "blank.jsonl")) == DATA


def test_no_conversations(written):
    assert read_conversations(written("[]")) == []
    assert read_conversations(written("", "data.jsonl")) == []


@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_the_embedded_conversations_are_valid(part):
    assert read_conversations(Config().input_path(part))


def test_a_missing_file(workdir):
    assert "No such file" in refused(workdir / "missing.json")


def test_a_folder(workdir):
    refused(workdir)


@pytest.mark.parametrize("content", ["", "[", "{'conv_id': 1}", b"\xff\xfe[]", b'["\xff"]', "[] []"])
def test_what_is_no_json(written, content):
    assert "not valid JSON" in refused(written(content))


def test_a_broken_line(written):
    assert "not valid JSON" in refused(written(json.dumps(DATA[0]) + "\n{broken\n", "data.jsonl"))


@pytest.mark.parametrize("name", ["data.json", "data.jsonl"])
def test_a_missing_key_is_named_with_file_conversation_and_turn(written, name):
    broken = json.loads(json.dumps(DATA))
    del broken[1]["questions"][0]["question"]
    content = json.dumps(broken) if name == "data.json" else "\n".join(map(json.dumps, broken))
    message = refused(written(content, name))
    assert "conversation 'c1', turn 0" in message
    assert "'question' is missing" in message


def test_an_object_in_place_of_the_list(written):
    assert "expected a list" in refused(written(json.dumps(DATA[0])))
