import json

from convinse.formats.convmix import read_conversations
from convinse.support.errors import DataError
from refusals import refused
from written import write, write_lines

TURN = {"turn": 0, "question": "Wer schrieb “Träume”?", "answers": [{"id": "Q1", "label": "é"}]}
DATA = [
    {"conv_id": name, "domain": "books", "extra": {"kept": True}, "questions": [{"question_id": f"{name}-0", **TURN}]}
    for name in ("c0", "c1")
]


def unreadable(path, *words):
    refused(DataError, lambda: read_conversations(path), str(path), *words)


def test_a_list_and_a_conversation_a_line_read_the_same():
    assert read_conversations(write("data.json", json.dumps(DATA, indent=1))) == DATA
    path = write_lines("data.jsonl", *DATA)
    assert read_conversations(path) == DATA
    assert read_conversations(write("blank.jsonl", path.read_text().replace("\n", "\n\n"))) == DATA


def test_a_missing_key_is_named_with_file_conversation_and_turn():
    broken = json.loads(json.dumps(DATA))
    del broken[1]["questions"][0]["question"]
    for path in (write("data.json", broken), write_lines("data.jsonl", *broken)):
        unreadable(path, "conversation 'c1', turn 0", "'question' is missing")
