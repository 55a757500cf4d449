"""Conversations for training: understood turn by turn, with the gold answers of earlier turns."""

import json

import msgspec
import pytest

from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.base import EvidenceRetrievalScoring
from convinse.question_understanding.base import QuestionUnderstanding
from convinse.support.errors import DataError
from convinse.training.conversations import grouped_turns, understood_conversations
from refusals import refused
from written import write


class Recorder(QuestionUnderstanding):
    """Writes the history that it is given into the representation."""

    def inference_on_turn(self, turn, history_turns):
        assert "pred_answers" not in turn
        keys = ("question", "structured_representation")
        earlier = [[*(past[key] for key in keys), [a["id"] for a in past["answers"]]] for past in history_turns]
        return json.dumps([turn["question"], earlier])


def answer(number):
    return [{"id": f"Q{number}", "label": str(number)}]


QUESTIONS = [{"question": f"{word}?", "answers": answer(n)} for n, word in enumerate(("one", "two", "three"), 1)]
CONVERSATIONS = [{"conv_id": "a", "questions": QUESTIONS[:2]}, {"conv_id": "b", "questions": QUESTIONS[2:]}]


@pytest.fixture
def config(workdir):
    def make(conversations, part="train"):
        write(f"{part}.json", conversations)
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
    old = {"context": [], "entities": [], "predicate": "", "answer_type": ""}
    question = {**QUESTIONS[2], "structured_representation": "old", "representation": old}
    found = understood_conversations(config([{"conv_id": "b", "questions": [question]}]), "train")
    assert "representation" not in found[0]["questions"][0]
    assert json.loads(found[0]["questions"][0]["structured_representation"]) == ["three?", []]


def test_a_turn_without_answers_is_refused_unless_its_question_has_none(config):
    conversation = {"conv_id": "a", "questions": [QUESTIONS[0], {"question": "two?"}]}
    message = "train.json: conversation a, turn 1 has no answers; training needs them"
    refused(DataError, lambda: understood_conversations(config([conversation]), "train"), message)
    conversation["questions"][1]["answers"] = []
    _, second = understood_conversations(config([conversation]), "train")[0]["questions"]
    assert second["answers"] == [] and json.loads(second["structured_representation"])[0] == "two?"
    message = "dev.json: no such file; training needs it, check dev_input_path and benchmark_path"
    refused(DataError, lambda: understood_conversations(config(CONVERSATIONS), "dev"), message)


class Finder(EvidenceRetrievalScoring):
    """Finds nothing; the topic of a question is the item of its first word."""

    def inference_on_turn(self, turn, sources):
        item = turn["question"].split()[0]
        turn["question_entities"] = [{"item": {"id": item, "label": item}}] if item.istitle() else []
        return []


def test_turns_are_grouped_by_conversation_and_single_questions_by_their_topic(config):
    def asked(name, *questions, **more):
        turns = [{"turn": n, "question": question, "answers": []} for n, question in enumerate(questions)]
        return {"conv_id": name, "questions": turns, **more}

    made = config([asked("a", "Titanic?", "why"), asked("b", "Jaws who", "when", group=7), asked("c", "Alien how"),
                   asked("d", "Alien who", group=8), asked("e", "who else")])  # fmt: skip
    made = msgspec.structs.replace(made, ers=f"{__name__}:Finder")
    groups, given = [], []
    for group, turn in grouped_turns(made, "train", ("kb",)):
        assert turn["top_evidences"] == []
        groups.append((turn["question"], group))
        given.append(turn)
    assert groups == [("Titanic?", "a"), ("why", "a"), ("Jaws who", "7"), ("when", "7"), ("Alien how", "Alien"),
                      ("Alien who", "Alien"), ("who else", "who else")]  # fmt: skip
    assert all("top_evidences" not in turn for turn in given)  # they are too many to be kept
