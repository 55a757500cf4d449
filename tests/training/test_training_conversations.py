"""Conversations for training: understood turn by turn, with the gold answers of earlier turns."""

import json

import pytest

from convinse.config import parse_config
from convinse.question_understanding.base import QuestionUnderstanding
from convinse.support.errors import DataError
from convinse.training.conversations import understood_conversations


class Recorder(QuestionUnderstanding):
    """Writes what it was told of the history into the representation."""

    def inference_on_turn(self, turn, history_turns):
        assert "pred_answers" not in turn
        earlier = [
            [t["question"], t["structured_representation"], [a["id"] for a in t["answers"]]] for t in history_turns
        ]
        return json.dumps([turn["question"], earlier])


def answer(number):
    return [{"id": f"Q{number}", "label": str(number)}]


CONVERSATIONS = [
    {
        "conv_id": "a",
        "questions": [{"question": "one?", "answers": answer(1)}, {"question": "two?", "answers": answer(2)}],
    },
    {"conv_id": "b", "questions": [{"question": "three?", "answers": answer(3)}]},
]


@pytest.fixture
def config(workdir):
    def make(conversations, part="train"):
        (workdir / f"{part}.json").write_text(json.dumps(conversations))
        return parse_config({"benchmark_path": str(workdir), "qu": f"{__name__}:Recorder"})

    return make


@pytest.mark.parametrize("part", ["train", "dev"])
def test_each_turn_knows_the_gold_answers_of_those_before(config, part):
    found = understood_conversations(config(CONVERSATIONS, part), part)
    first, second = (turn["structured_representation"] for turn in found[0]["questions"])
    assert json.loads(first) == ["one?", []]
    assert json.loads(second) == ["two?", [["one?", first, ["Q1"]]]]
    assert json.loads(found[1]["questions"][0]["structured_representation"]) == ["three?", []]
    assert found[1]["questions"][0]["answers"] == answer(3)


def test_an_earlier_representation_is_not_kept(config):
    conversations = json.loads(json.dumps(CONVERSATIONS))
    conversations[1]["questions"][0]["structured_representation"] = "old"
    found = understood_conversations(config(conversations), "train")
    assert json.loads(found[1]["questions"][0]["structured_representation"]) == ["three?", []]


@pytest.mark.parametrize("broken", [{"question": "two?"}, {"question": "two?", "answers": []}])
def test_a_turn_without_answers_is_named(config, broken):
    conversations = json.loads(json.dumps(CONVERSATIONS))
    conversations[0]["questions"][1] = broken
    with pytest.raises(DataError, match=r"train.json: conversation a, turn 1 has no answers; training needs them$"):
        understood_conversations(config(conversations), "train")


def test_a_missing_part_is_named(config):
    with pytest.raises(
        DataError, match="dev.json: no such file; training needs it, check dev_input_path and benchmark_path"
    ):
        understood_conversations(config(CONVERSATIONS), "dev")
