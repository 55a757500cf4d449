"""`train ha`: places of gold answers in evidences, and the command from conversations to a model folder."""

import json

import pytest

from convinse.cli import main
from convinse.config import parse_config
from convinse.heterogeneous_answering.extractive import ExtractiveAnswering
from convinse.support.errors import ConfigError
from convinse.training.answering import TurnExamples, answer_spans, examples, steps, validate
from convinse.training.conversations import turns_with_evidences
from convinse.training.reader import ReadExample
from evidences import evidence
from tiny_models import tiny
from trainings import SOURCES, stage_settings, write_benchmark
from written import read_json, write

MODEL = str(tiny("bert", "question-answering", initializer_range=0.1))


def answer(entity_id, label):
    return [{"id": entity_id, "label": label}]


# --- what is learned from


@pytest.mark.parametrize(
    ("text", "mentions", "gold", "found"),
    [
        ("Tolkien wrote it; tolkien's book", [], answer("Q892", "Tolkien"), ["Tolkien", "tolkien"]),
        ("Tolkienesque MacTolkien", [], answer("Q892", "Tolkien"), []),
        ("J. R. R. Tolkien and Tolkien", [("J. R. R. Tolkien", "Q892")], answer("q892", "Tolkien"),
         ["J. R. R. Tolkien", "Tolkien"]),
        ("the Professor taught", [("the Professor", "Q892")], answer("Q892", "J. R. R. Tolkien"), ["the Professor"]),
        ("the Professor taught", [("the Professor", "Q1")], answer("Q892", "J. R. R. Tolkien"), []),
        ("on June 11, 1969 or 11 June 1969", [], answer("1969-06-11T00:00:00Z", "11 June 1969"),
         ["June 11, 1969", "11 June 1969"]),
        ("born 1969, on 11 June 1969", [], answer("1969-01-01T00:00:00Z", "1969"), ["1969"]),
        ("costs 1,250.50 of 3.5", [], answer("1250.5", "1250.5"), ["1,250.50"]),
        ("3.5 of 3", [], answer("3", "3"), ["3"]),
        ("C++ (and C)", [], answer("Q2407", "C++"), ["C++"]),
        ("Éire 👍🏽 Éire\r\nÉIRE", [], answer("Q27", "Éire"), ["Éire", "Éire", "ÉIRE"]),
        ("anything", [], answer("Q1", " "), []),
        ("Rome, Paris", [], [*answer("Q1", "Paris"), *answer("Q2", "Rome")], ["Rome", "Paris"]),
    ],
)  # fmt: skip
def test_places_of_gold_answers(text, mentions, gold, found):
    assert [text[start:end] for start, end in answer_spans(evidence(text, "text", *mentions), gold)] == found


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
    return lambda **keys: ExtractiveAnswering(parse_config(settings(**keys)))


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
    right, wrong = examples(ha(), turn)
    assert right == [ReadExample("it || wrote", "by Tolkien", ((3, 10),))]
    assert wrong == [ReadExample("it || wrote", "a film"), ReadExample("it || wrote", "a book")]
    turn |= {"question": "Is it a book?", "structured_representation": "a || b || c || yes or no"}
    assert examples(ha(), turn) == ([], [])


def test_rows_are_learned_from_in_the_form_that_the_model_is_shown(ha):
    cells = [{"text": "1937", "header": "Year", "start": 8, "column": 0, "entities": [], "rank": "earliest"}]
    row = {"caption": "", "section": "", "cells": cells, "rank": "first"}
    turn = {"question": "When?", "answers": answer("1937-01-01T00:00:00Z", "1937")}
    turn["top_evidences"] = [{**evidence("Year is 1937", "table"), "row": row}, evidence("a film")]
    plain, ranked = (examples(ha(), turn, form).right for form in ("plain", "ranked"))
    assert plain == [ReadExample("When?", "Year is 1937", ((8, 12),))]
    assert ranked == [ReadExample("When?", "[first], Year: 1937 [earliest]", ((15, 19),))]


def test_the_same_text_is_not_right_and_wrong(ha):
    turn = {"question": "Where?", "answers": answer("Q1", "Paris")}
    found = examples(ha(), {**turn, "top_evidences": [evidence("here"), evidence("here", "text", ("here", "Q1"))]})
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
    train = [
        TurnExamples(
            [ReadExample(str(n), f"right {m}", ((0, 5),)) for m in range(n)],
            [ReadExample(str(n), f"wrong {m}") for m in range(9)],
        )
        for n in range(1, 6)
    ]
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


def test_validation_is_what_the_module_answers(ha, settings, workdir):
    module = ha()
    dev = [dict(turn) for turn in turns_with_evidences(module.config, "dev", SOURCES)]
    before = json.dumps(dev)
    found = validate(module, module.build_reader(MODEL), dev, SOURCES)
    assert json.dumps(dev) == before and "reader" not in vars(module)
    assert validate(OwnConstructor(module.config), module.build_reader(MODEL), dev, SOURCES) == found
    write("my.yml", settings())
    assert main(["pipeline", "kb_text", "my.yml", "--part", "dev", "--quiet"]) == 0
    metrics = read_json("results/mine/kb_text/metrics.json")
    assert {name: round(value, 4) for name, value in found.items()} == {name: metrics[name] for name in found}


# --- errors


def test_a_base_is_no_model_to_answer_with(ha):
    with pytest.raises(ConfigError, match="ha: extractive needs ha_model"):
        ha(ha_model=None, ha_training={"base": MODEL}).inference_on_turn(
            {"question": "Who?", "top_evidences": []}, SOURCES
        )
