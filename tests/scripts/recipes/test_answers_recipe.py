"""The data that the shipped ranking of answers learns from."""

import numpy as np
import pytest

from convinse.heterogeneous_answering.extractive import ExtractiveAnswering
from convinse.support.errors import DataError
from convinse.training.answer_ranking import ChoiceSet
from convinse.training.choices import Choice
from recipes import answers
from written import read_json, write, write_lines

CAMERON, WINSLET = {"id": "Q42574"}, {"id": "Q202765"}


def row(data_set, question, *given):
    return {"set": data_set, "question": question, "answers": list(given)}


def test_single_questions_have_an_answer_that_is_known(workdir, world_kb):
    write_lines(
        workdir / "hybrid" / "wikidata-questions.jsonl.gz",
        row("tiq-train", "Who made it?", CAMERON, {"id": "Q999999"}),
        row("tiq-train", "Who made it?", WINSLET),  # a second time
        row("tiq-train", "Who is unknown?", {"id": "Q999999"}),
        row("tiq-train", "Who?"),
        row("rubq2-dev", "When?", {"id": None, "value": "1954-08-16T00:00:00Z"}),
        row("rubq2-dev", "How many?", {"id": None, "value": "12"}),  # too few digits to be safe
        row("rubq1-test", "Who acts?", WINSLET),  # a test part teaches nothing
    )
    write(
        workdir / "lcquad2-cq" / "LC_QuAD20_CQ.dev.json.gz",
        [{"question": "Who acts?", "answers": ["Q202765"]}, {"question": "{who} acts", "answers": ["Q202765"]},
         {"question": "Who sings?", "answers": ["Q999999"]}],
    )  # fmt: skip
    found = answers.single_questions(workdir, world_kb)
    told = {
        name: [(own["question"], [answer["id"] for answer in own["answers"]]) for (own,) in map(turns_of, given)]
        for name, given in found.items()
    }
    assert told == {
        "tiq": [("Who made it?", ["Q42574"])],
        "rubq2": [("When?", ["1954-08-16T00:00:00Z"])],
        "lcquad2": [("Who acts?", ["Q202765"])],
    }
    assert found["tiq"][0]["questions"][0]["answers"][0]["label"] == "James Cameron"
    assert len({own["conv_id"] for given in found.values() for own in given}) == 3


def turns_of(conversation):
    return conversation["questions"]


def test_without_the_data_it_says_what_is_missing(workdir, world_kb):
    with pytest.raises(DataError, match="wikidata-questions.jsonl.gz: no such data"):
        answers.single_questions(workdir, world_kb)


@pytest.mark.parametrize(
    ("number", "most", "places"),
    [(3, 5, [0, 1, 2]), (5, 5, [0, 1, 2, 3, 4]), (6, 5, [0, 2, 4]), (10, 2, [0, 5]), (0, 2, [])],
)
def test_at_most_so_many_evenly_from_all(number, most, places):
    assert answers.some(list(range(number)), most) == places


def test_what_is_only_one_of_a_class_is_no_right_answer():
    listed = answers.Features._fields.index("listed")
    rows = np.zeros((3, len(answers.Features._fields)))
    rows[0, listed] = 1.0
    own = Choice(rows, np.arange(2.0), np.array([True, True, False]), 1.0, "Q1")
    assert answers._linked(own).right.tolist() == [False, True, False]
    empty = Choice(np.empty((0, 3)), np.arange(2.0), np.array([], bool), 1.0, "Q1")
    assert answers._linked(empty).right.tolist() == []


def choice(rows, right, group, width=3):
    return Choice(np.array(rows, float).reshape(-1, width), np.arange(2.0), np.array(right, bool), 1.0, group)


def decision(group):
    return Choice(np.array([[1.0, 2.0, 3.0]]), np.empty(0), np.array([True]), 1.0, group)


CHOICES = [choice([[1, 2, 3], [4, 5, 6]], [True, False], "Q1"), choice([], [], "é"), choice([[7, 8, 9]], [False], "")]


@pytest.mark.parametrize("own", [CHOICES, CHOICES[:1], CHOICES[1:2], []])
@pytest.mark.parametrize("yes_no", [[decision("Q1"), decision("long name")], []])
def test_choices_are_kept_and_read_again_without_asking_anew(workdir, monkeypatch, own, yes_no):
    calls = []

    def turns(config, part, sources, resources):
        calls.append((config.train_input_path, part, sources, config.ers_use_cache))
        yield "Q1", {"question": "Who?", "top_evidences": [], "answers": []}

    def teach(name, ha, given, is_right):
        assert isinstance(ha, ExtractiveAnswering) and [group for group, _ in given] == ["Q1"]
        return ChoiceSet(name, own, yes_no)

    monkeypatch.setattr(answers, "grouped_turns", turns)
    monkeypatch.setattr(answers, "choices_of", teach)
    conversations = [{"conv_id": "é", "questions": []}]
    made = answers.choice_set("own", {}, conversations, ("kb",), workdir)
    again = answers.choice_set("own", {}, [], ("kb",), workdir)
    assert calls == [(str(workdir / "own.json"), "train", ("kb",), True)]
    assert read_json(workdir / "own.json") == conversations
    for found in (made, again):
        assert found.name == "own"
        for kept, given in ((found.choices, own), (found.yes_no, yes_no)):
            assert [choice.group for choice in kept] == [choice.group for choice in given]
            for one, other in zip(kept, given, strict=True):
                assert one.weight == 1.0 and one.right.dtype == bool
                assert all(np.array_equal(one[place], other[place]) for place in range(3))
                assert one.candidates.shape == other.candidates.shape


def test_a_set_of_names_has_the_turns_whose_answers_are_names(workdir, monkeypatch):
    said = {"evidence_text": "Jim", "source": "text", "disambiguations": [["Jim", "Q42574"]], "mentions": [],
            "wikidata_entities": [{"id": "Q42574", "label": "James Cameron"}]}  # fmt: skip
    turns = [("a", {"question": "Who?", "answers": [CAMERON], "top_evidences": [said]}),
             ("b", {"question": "Who?", "answers": [WINSLET], "top_evidences": [said]})]  # fmt: skip
    seen = {}

    def teach(name, ha, given, is_right):
        seen[name] = [(group, [answer["id"] for answer in turn["answers"]]) for group, turn in given]
        return ChoiceSet(name, [], [])

    monkeypatch.setattr(answers, "grouped_turns", lambda *_: iter(turns))
    monkeypatch.setattr(answers, "choices_of", teach)
    for name in ("train", "train, names"):
        answers.choice_set(name, {}, [], ("kb",), workdir)
    assert seen == {"train": [("a", ["Q42574"]), ("b", ["Q202765"])], "train, names": [("a", ["Jim"])]}
