"""Distant supervision: what leads to the gold answers of questions and their history; the cases are in tests/cases/silver.yml."""

import copy
from pathlib import Path

import pytest

from case_tables import each_case
from convinse.config import parse_config
from convinse.language.language import english
from convinse.support.errors import DataError
from convinse.training.distant_supervision import Annotator, annotate
from convinse.training.silver import annotated_path, predicate_words, representation_text, silver_type
from refusals import refused
from written import names, read_json, write

TITANIC = ["Who directed Titanic?", ["Q42574", "James Cameron"]]
WHEN_BORN = ["When was he born?", ["1954-08-16T00:00:00Z", "16 August 1954"]]
KEYS = ("silver_SR", "silver_relevant_turns", "silver_mentions")


@pytest.fixture
def config(world_index):
    def make(**keys):
        return parse_config({"kb_path": str(world_index), "ers_wikipedia_dump": None, "ers_use_cache": False, **keys})

    return make


def turns_of(turns):
    return [
        {"turn": number, "question": question, "answers": [{"id": item, "label": label} for item, label in answers]}
        for number, (question, *answers) in enumerate(turns)
    ]


@pytest.fixture
def annotated(config):
    """The turns of a conversation, annotated by facts; and the counts."""

    def run(*turns):
        annotator = Annotator(config(), ["kb"])
        questions = turns_of(turns)
        counts = annotator.annotate({"conv_id": "c", "questions": questions})
        annotator.retriever.store_cache()
        return questions, counts

    return run


# --- the parts of a conversation that lead to an answer


@each_case("silver", "slots")
def test_the_slots_and_the_turns_that_lead_to_the_answer(annotated, case):
    turn = annotated(*case["turns"])[0][-1]
    (silver,) = turn["silver_SR"]
    assert [list(slot) if isinstance(slot, (list, tuple)) else slot for slot in silver] == case["slots"]
    assert turn["silver_relevant_turns"] == case["relevant"]


def test_the_mentions_that_lead_to_the_answer_have_their_items(annotated):
    first, second = annotated(TITANIC, WHEN_BORN)[0]
    # the film of that name, not the ship, has a fact with the answer
    item = {"id": "Q44578", "label": "Titanic"}
    assert first["silver_mentions"] == [
        {"turn": 0, "part": "question", "text": "Titanic", "evidences": 1, "item": item}
    ]
    assert [(m["turn"], m["part"], m["item"]["id"]) for m in second["silver_mentions"]] == [(0, "answer", "Q42574")]


@each_case("silver", "outcome")
def test_turns_that_teach_nothing_are_counted(annotated, case):
    turns, counts = annotated(*case["turns"])
    assert counts == {"turns": 2, "annotated": 1, case["outcome"]: 1}
    assert [turns[1][key] for key in KEYS] == [[], None, []]


# --- the slots


@each_case("silver", "predicate_of")
def test_predicate_words_are_outside_of_mentions(case):
    found = predicate_words(case["predicate_of"], english().words, case["mentions"], case["labels"])
    assert found == case["words"]


@each_case("silver", "types")
def test_the_type_is_the_one_of_the_question_if_it_fits_else_that_of_the_answer(case):
    gold = [{"id": case["answer"], "label": "x"}]
    found = silver_type(case["question"], gold, english().answer_types, lambda item_id: case["types"])
    assert found.label == case["label"]


def test_a_representation_as_text():
    silver = [[["Titanic", "a  film"], ["James Cameron"], ["born", "grew up"], "place"]]
    assert representation_text(silver, " || ", "x") == "Titanic, a film || James Cameron || born grew up || place"
    assert representation_text([[[], ["b"], [], None]], " ## ", "x") == "## b ##  ##"
    assert representation_text([], " || ", "x") is None and representation_text(None, " || ", "x") is None


@each_case("silver", "broken")
def test_a_broken_representation_is_named(case):
    with pytest.raises(DataError, match="^here: silver_SR is not a list of"):
        representation_text(case["broken"], " || ", "here")


# --- files


@pytest.fixture
def benchmark(config, workdir):
    conversations = [{"conv_id": "a", "mine": 1, "questions": turns_of([TITANIC, WHEN_BORN])}]
    conversations[0]["questions"][0]["note"] = "kept"
    for part in ("train", "dev", "test"):
        write(f"{part}.json", conversations)
    return config(name="mine", benchmark_path=str(workdir)), conversations


def test_each_part_is_written_with_all_that_it_had(benchmark):
    config, conversations = benchmark
    done = annotate(config, ["kb"], quiet=True)
    paths = [Path(f"results/mine/annotated_{part}.json") for part in ("train", "dev", "test")]
    assert list(done) == paths and names("results/mine") == sorted(path.name for path in paths)
    assert done[paths[0]] == {"turns": 2, "annotated": 2, "lean on earlier turns": 1}
    (conversation,) = read_json(paths[1])
    assert conversation["questions"][1]["silver_SR"] == [[[], ["James Cameron"], ["born"], "date"]]
    stripped = copy.deepcopy(conversation)
    for turn in stripped["questions"]:
        for key in KEYS:
            turn.pop(key)
    assert [stripped] == conversations


def test_nothing_is_written_if_a_part_is_missing(benchmark):
    config, _ = benchmark
    Path("test.json").unlink()
    message = "test.json: no such file; check test_input_path and benchmark_path"
    refused(DataError, lambda: annotate(config, ["kb"], quiet=True), message)
    assert not Path("results").exists()
    assert list(annotate(config, ["kb"], ["dev"], quiet=True)) == [annotated_path(config, "dev")]
