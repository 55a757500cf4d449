"""Turns to train on: understood with the gold answers of earlier ones, grouped, and their evidences as examples of `train ha`."""

import json

import msgspec
import pytest

from case_tables import each_case
from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.base import EvidenceRetrievalScoring
from convinse.heterogeneous_answering.extractive import ExtractiveAnswering
from convinse.question_understanding.base import QuestionUnderstanding
from convinse.support.errors import DataError
from convinse.training.answering import answer_spans, examples, validate
from convinse.training.conversations import grouped_turns, turns_with_evidences, understood_conversations
from convinse.training.reader import ReadExample
from evidences import evidence
from refusals import refused
from tiny_models import tiny
from trainings import KINDS, SOURCES
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
def test_history_of_a_turn_has_the_gold_answers(config, part):
    found = understood_conversations(config(CONVERSATIONS, part), part)
    first, second = (turn["structured_representation"] for turn in found[0]["questions"])
    assert json.loads(first) == ["one?", []]
    assert json.loads(second) == ["two?", [["one?", first, ["Q1"]]]]
    assert json.loads(found[1]["questions"][0]["structured_representation"]) == ["three?", []]
    assert found[1]["questions"][0]["answers"] == answer(3)


def test_a_turn_without_the_key_answers_is_refused_and_an_empty_list_is_not(config):
    conversation = {"conv_id": "a", "questions": [QUESTIONS[0], {"question": "two?"}]}
    message = "train.json: conversation a, turn 1 has no answers; training needs them"
    refused(DataError, lambda: understood_conversations(config([conversation]), "train"), message)
    conversation["questions"][1]["answers"] = []
    _, second = understood_conversations(config([conversation]), "train")[0]["questions"]
    assert second["answers"] == [] and json.loads(second["structured_representation"])[0] == "two?"
    message = "dev.json: no such file; check dev_input_path and benchmark_path"
    refused(DataError, lambda: understood_conversations(config(CONVERSATIONS), "dev"), message)


class Finder(EvidenceRetrievalScoring):
    """Finds nothing; the topic of a question is the item of its first word."""

    def inference_on_turn(self, turn, sources):
        item = turn["question"].split()[0]
        turn["question_entities"] = [{"item": {"id": item, "label": item}}] if item.istitle() else []
        return []


def test_turns_are_grouped_by_conversation_and_single_questions_by_their_topic(config):
    def conversation(name, *questions, **more):
        turns = [{"turn": n, "question": question, "answers": []} for n, question in enumerate(questions)]
        return {"conv_id": name, "questions": turns, **more}

    made = config([conversation("a", "Titanic?", "why"), conversation("b", "Jaws who", "when", group=7), conversation("c", "Alien how"),
                   conversation("d", "Alien who", group=8), conversation("e", "who else")])  # fmt: skip
    made = msgspec.structs.replace(made, ers=f"{__name__}:Finder")
    groups, turns = [], []
    for group, turn in grouped_turns(made, "train", ("kb",)):
        assert turn["top_evidences"] == []
        groups.append((turn["question"], group))
        turns.append(turn)
    assert groups == [("Titanic?", "a"), ("why", "a"), ("Jaws who", "7"), ("when", "7"), ("Alien how", "Alien"),
                      ("Alien who", "Alien"), ("who else", "who else")]  # fmt: skip
    assert all("top_evidences" not in turn for turn in turns)  # they are too many to be kept


# --- answers in evidences (tests/cases/answer_places.yml)


MODEL = str(tiny("bert", "question-answering", initializer_range=0.1))


def gold(entity_id, label):
    return [{"id": entity_id, "label": label}]


@each_case("answer_places")
def test_gold_answers_are_found_in_evidences(case):
    answers = [{"id": item, "label": label} for item, label in case["gold"]]
    places = answer_spans(evidence(case["text"], "text", *case["mentions"]), answers)
    assert [case["text"][start:end] for start, end in places] == case["spans"]


@pytest.fixture
def kind(workdir):
    return KINDS["ha"]()


@pytest.fixture
def ha(kind):
    return ExtractiveAnswering(parse_config(kind.configuration(base="", model=MODEL)))


def test_evidences_become_examples(ha):
    turn = {
        "question": "Who wrote it?",
        "structured_representation": "it || wrote",
        "answers": gold("Q892", "Tolkien"),
        "top_evidences": [
            evidence("by Tolkien"), evidence("a film"),
            evidence("the writer", wikidata_entities=gold("Q892", "J. R. R. T.")),
            evidence("by Tolkien"), evidence("a book"),
        ],
    }  # fmt: skip
    right, wrong = examples(ha, turn)
    assert right == [ReadExample("it || wrote", "by Tolkien", ((3, 10),))]
    assert wrong == [ReadExample("it || wrote", "a film"), ReadExample("it || wrote", "a book")]
    turn |= {"question": "Is it a book?", "structured_representation": "a || b || c || yes or no"}
    assert examples(ha, turn) == ([], [])


def test_rows_are_learned_from_in_the_form_that_the_model_is_shown(ha):
    cells = [{"text": "1937", "header": "Year", "start": 8, "column": 0, "entities": [], "rank": "earliest"}]
    row = {"caption": "", "section": "", "cells": cells, "rank": "first"}
    turn = {"question": "When?", "answers": gold("1937-01-01T00:00:00Z", "1937")}
    turn["top_evidences"] = [{**evidence("Year is 1937", "table"), "row": row}, evidence("a film")]
    plain, ranked = (examples(ha, turn, form)[0] for form in ("plain", "ranked"))
    assert plain == [ReadExample("When?", "Year is 1937", ((8, 12),))]
    assert ranked == [ReadExample("When?", "[first], Year: 1937 [earliest]", ((15, 19),))]


def test_validation_changes_neither_turns_nor_module(ha):
    dev = [dict(turn) for turn in turns_with_evidences(ha.config, "dev", SOURCES)]
    before = json.dumps(dev)
    validate(ha, ha.build_reader(MODEL), dev, SOURCES)
    assert json.dumps(dev) == before and "reader" not in vars(ha)
