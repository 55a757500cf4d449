import json

import pytest

datasets = pytest.importorskip("datasets")

from pipeline_results import QUESTIONS, native, texts  # noqa: E402

from convinse.integrations.datasets import evidences, turns  # noqa: E402
from places import SNAPSHOT  # noqa: E402


def test_conversations_become_rows_that_are_stored_and_loaded(workdir):
    conversations = json.loads((SNAPSHOT / "conversations" / "train.json").read_text())[:3]
    made = turns(conversations)
    pairs = [(c, t) for c in conversations for t in c["questions"]]
    assert made["question"][:] == [t["question"] for _, t in pairs] and made["domain"][:] == [
        c["domain"] for c, _ in pairs
    ]
    assert made[1]["history"] == [made[0]["question"]] and made[0]["history"] == []
    assert made[0]["answers"] == [{"id": a["id"], "label": a["label"]} for a in pairs[0][1]["answers"]]
    made.save_to_disk("turns")
    loaded = datasets.load_from_disk("turns")
    assert loaded.features == made.features and loaded[:] == made[:]


def test_evidences_of_a_run_become_rows_in_the_native_order():
    done = [{"conv_id": str(n), "questions": [turn]} for n, turn in enumerate(native())]
    done[0]["questions"][0]["answers"] = [{"id": "Q42574", "label": "James Cameron"}]
    made = evidences(done)
    for number in range(len(QUESTIONS)):
        rows = made.filter(lambda row, name=f"{number}-0": row["question_id"] == name)
        expected = texts(done[number]["questions"][0])
        assert rows["evidence_text"][:] == expected and rows["rank"][:] == list(range(1, len(expected) + 1))
    first = len(texts(done[0]["questions"][0]))
    assert any(made[:first]["has_answer"]) and set(made[first:]["has_answer"]) == {None}


def test_nothing_becomes_an_empty_table():
    assert turns([]).num_rows == 0 == evidences([{"conv_id": "a", "questions": [{"question": "?"}]}]).num_rows
