"""`train ha`: gold answers in evidences (tests/cases/answer_places.yml), examples of turns, steps and validation."""

import json

import pytest

from case_tables import each_case
from convinse.config import parse_config
from convinse.heterogeneous_answering.extractive import ExtractiveAnswering
from convinse.support.errors import ConfigError
from convinse.training.answering import TurnExamples, answer_spans, examples, steps, validate
from convinse.training.conversations import turns_with_evidences
from convinse.training.reader import ReadExample
from evidences import evidence
from tiny_models import tiny
from trainings import SOURCES, stage_settings, write_benchmark

MODEL = str(tiny("bert", "question-answering", initializer_range=0.1))


def answer(entity_id, label):
    return [{"id": entity_id, "label": label}]


@each_case("answer_places")
def test_gold_answers_are_found_in_evidences(case):
    gold = [{"id": item, "label": label} for item, label in case["gold"]]
    places = answer_spans(evidence(case["text"], "text", *case["mentions"]), gold)
    assert [case["text"][start:end] for start, end in places] == case["spans"]


def test_the_label_of_an_item_counts_as_its_name():
    text = evidence("by Tolkien", wikidata_entities=answer("Q892", "Tolkien"))
    assert answer_spans(text, answer("Q892", "John Tolkien")) == [(3, 10)]


@pytest.fixture
def settings(tmp_path):
    """A benchmark of some conversations of the snapshot, and what training on it takes."""
    data = write_benchmark(tmp_path / "data", 3, 2)

    def make(**keys):
        given = {"evs_max_evidences": 20, "ha": "extractive", "ha_model": MODEL, **keys}
        return stage_settings(data, "ha", {"learning_rate": 1e-3}, **given)

    return make


@pytest.fixture
def ha(settings):
    return ExtractiveAnswering(parse_config(settings()))


def test_evidences_become_examples(ha):
    turn = {
        "question": "Who wrote it?",
        "structured_representation": "it || wrote",
        "answers": answer("Q892", "Tolkien"),
        "top_evidences": [
            evidence("by Tolkien"), evidence("a film"),
            evidence("the writer", wikidata_entities=answer("Q892", "J. R. R. T.")),
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
    turn = {"question": "When?", "answers": answer("1937-01-01T00:00:00Z", "1937")}
    turn["top_evidences"] = [{**evidence("Year is 1937", "table"), "row": row}, evidence("a film")]
    plain, ranked = (examples(ha, turn, form).right for form in ("plain", "ranked"))
    assert plain == [ReadExample("When?", "Year is 1937", ((8, 12),))]
    assert ranked == [ReadExample("When?", "[first], Year: 1937 [earliest]", ((15, 19),))]


def test_the_same_text_is_not_right_and_wrong(ha):
    turn = {"question": "Where?", "answers": answer("Q1", "Paris")}
    found = examples(ha, {**turn, "top_evidences": [evidence("here"), evidence("here", "text", ("here", "Q1"))]})
    assert [e.context for e in found.right] == ["here"] and found.wrong == []


def test_turns_come_with_the_evidences_of_the_ers(settings):
    config = parse_config(settings())
    turns = [dict(turn) for turn in turns_with_evidences(config, "dev", SOURCES)]
    expected = [turn["question"] for c in json.loads(config.input_path("dev").read_bytes()) for turn in c["questions"]]
    assert [turn["question"] for turn in turns] == expected
    assert any(turn["top_evidences"] for turn in turns)
    assert {e["source"] for turn in turns for e in turn["top_evidences"]} <= set(SOURCES)
    assert all(len(turn["top_evidences"]) <= 20 and turn["structured_representation"] for turn in turns)


def test_an_epoch_draws_from_each_turn(settings):
    config = parse_config(settings(ha_training={"positives": 2, "negatives": 3, "batch_size": 4}))
    train = []
    for n in range(1, 6):
        right = [ReadExample(str(n), f"right {m}", ((0, 5),)) for m in range(n)]
        train.append(TurnExamples(right, [ReadExample(str(n), f"wrong {m}") for m in range(9)]))
    epochs = [steps(train, config, number) for number in (1, 1, 2)]
    assert epochs[0] == epochs[1] != epochs[2] and len(epochs[0]) == len(epochs[2])
    drawn = [example for step in epochs[0] for example in step]
    assert len(set(drawn)) == len(drawn) == 1 + 4 * 2 + 5 * 3 and all(len(step) == 4 for step in epochs[0][:-1])
    for n in range(1, 6):
        own = [example for example in drawn if example.question == str(n)]
        assert sum(bool(example.spans) for example in own) == min(n, 2) and len(own) == min(n, 2) + 3


class OwnConstructor(ExtractiveAnswering):
    def __init__(self, config):
        super().__init__(config)


def test_validation_changes_neither_turns_nor_module_and_takes_other_constructors(ha):
    dev = [dict(turn) for turn in turns_with_evidences(ha.config, "dev", SOURCES)]
    before = json.dumps(dev)
    found = validate(ha, ha.build_reader(MODEL), dev, SOURCES)
    assert json.dumps(dev) == before and "reader" not in vars(ha)
    assert validate(OwnConstructor(ha.config), ha.build_reader(MODEL), dev, SOURCES) == found


def test_a_base_is_no_model_to_answer_with(settings):
    module = ExtractiveAnswering(parse_config(settings(ha_model=None, ha_training={"base": MODEL})))
    with pytest.raises(ConfigError, match="ha: extractive needs ha_model"):
        module.inference_on_turn({"question": "Who?", "top_evidences": []}, SOURCES)
