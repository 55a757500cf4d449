"""Training of the ranking of answers: what turns teach, and what is learned of it."""

import json
from pathlib import Path

import numpy as np
import pytest

from convinse.config import parse_config
from convinse.encoder.extractive_reader import AnswerSpan
from convinse.heterogeneous_answering.candidates import EntityCandidate
from convinse.heterogeneous_answering.extractive import ExtractiveAnswering
from convinse.heterogeneous_answering.features import Features, QuestionFeatures
from convinse.heterogeneous_answering.ranking import FILE, NAMES, AnswerRanking
from convinse.heterogeneous_answering.yes_no import YesNoFeatures
from convinse.knowledge_base.index import KnowledgeBase
from convinse.records.facts import fact_evidence
from convinse.resources import Resources
from convinse.scoring.convqa import is_answer
from convinse.training.answer_ranking import (
    RISING,
    ChoiceSet,
    choices_of,
    cross_validated,
    judged,
    train_weights,
    unlinked,
    weighted,
    write_ranking,
)
from convinse.training.logit import Choice, fit
from evidences import evidence

READ = Features._fields.index("read")


# -- what turns teach --------------------------------------------------------------------------------------------------


def entity(item, label):
    return {"id": item, "label": label}


FILM, CAMERON = entity("Q44578", "Titanic"), entity("Q42574", "James Cameron")
WINSLET = entity("Q202765", "Kate Winslet")
DIRECTOR, YES, NO, SEA = entity("P57", "director"), entity("Yes", "Yes"), entity("No", "No"), entity("Q165", "sea")


class Marking:
    """A reader that marks a name in all texts."""

    row_form = "plain"

    def read_all(self, questions, contexts, top_k=None):
        name = "James Cameron"
        return [
            [AnswerSpan(name, place, text.index(name), text.index(name) + len(name), 1.0, 0.5, 0.1)
             for place, text in enumerate(texts) if name in text]
            for texts in contexts
        ]  # fmt: skip


@pytest.fixture
def ha(world_index, closed):
    config = parse_config({})
    kb = closed(KnowledgeBase(world_index))
    return ExtractiveAnswering(config, Resources(config, kb=kb), Marking())


def turn(question, *answers):
    """A turn with a fact and a sentence."""
    said = evidence("Titanic, James Cameron made it with Kate Winslet.", "text", ("Titanic", "Q44578"),
                    ("James Cameron", "Q42574"), ("Kate Winslet", "Q202765"), retrieved_for_entity=SEA, score=1.0)  # fmt: skip
    fact = {**fact_evidence([FILM, DIRECTOR, CAMERON], SEA), "score": 0.5}
    return {"question": question, "answers": list(answers), "top_evidences": [fact, said]}


def test_a_turn_teaches_which_candidates_are_right(ha):
    name, choices, yes_no = choices_of("first", ha, [("a", turn("Who directed it?", CAMERON))], is_answer)
    (choice,) = choices
    assert (name, yes_no) == ("first", []) and (choice.weight, choice.group) == (1.0, "a")
    assert choice.right.tolist() == [False, True, False]  # the film, the director, the actress
    assert choice.candidates.shape == (3, len(Features._fields)) and choice.question.shape == (len(QuestionFeatures._fields),)  # fmt: skip
    assert choice.candidates[:, READ].argmax() == 1  # as the reader marks it


def test_questions_for_yes_or_no_teach_something_else(ha):
    turns = [("a", turn("Did James Cameron direct Titanic?", YES)), ("b", turn("Who directed it?", CAMERON)),
             ("c", turn("Was Titanic directed by Kate Winslet?", NO)), ("d", turn("Did he sing?", CAMERON)),
             ("e", turn("Did he sing?"))]  # fmt: skip
    learned = choices_of("first", ha, turns, is_answer)
    assert [(choice.group, choice.right.tolist()) for choice in learned.choices] == [("b", [False, True, False])]
    assert [(choice.group, choice.right.tolist()) for choice in learned.yes_no] == [("a", [True]), ("c", [False])]
    assert YesNoFeatures(*learned.yes_no[0].candidates[0]).covered > 0.0


# -- questions as they would be ----------------------------------------------------------------------------------------


def choice(right, group="a", rows=None, weight=1.0):
    """A choice between candidates; by default the first feature of each is its place, all others are 0."""
    if rows is None:
        rows = np.zeros((len(right), len(Features._fields)))
        rows[:, 0] = np.arange(len(right))
    return Choice(np.array(rows, float), np.zeros(len(QuestionFeatures._fields)), np.array(right, bool), weight, group)


NAMED = [("Jim", "Q42574"), ("Kate Winslet", "Q202765"), ("1997", "1997-01-01T00:00:00Z")]
CELL = {"text": "Jim", "entities": [CAMERON], "start": 0, "header": "", "column": 0}
ROW = {"caption": "", "section": "", "cells": [CELL, {**CELL, "text": "Titanic", "entities": [FILM], "column": 1}]}


def mentioning(text, source="text", **more):
    """An evidence in which people are named, retrieved for the film."""
    passage = evidence(text, source, *NAMED, retrieved_for_entity=FILM, **more)
    passage["wikidata_entities"] = [CAMERON, WINSLET, FILM, entity(NAMED[2][1], "1997")]
    passage["mentions"] = [{"start": 0, "end": 1, "id": item} for _, item in (*NAMED, ("Titanic", "Q44578"))]
    return passage


def asking(*evidences, answers=(CAMERON,)):
    return {"question": "Who?", "answers": list(answers), "top_evidences": list(evidences)}


def ids(entities):
    return [entity["id"] for entity in entities]


def test_gold_answers_lose_their_items_and_are_the_names_that_evidences_have():
    fact, rest = (fact_evidence([FILM, DIRECTOR, value], FILM) for value in (CAMERON, NO))
    box = {"path": ["By"], "values": [{"text": "Jim", "entities": [CAMERON, FILM], "start": 0}]}
    question = asking(fact, rest, mentioning("Jim made it", row=ROW), mentioning("It was Jim", "info", attribute=box))
    before = json.loads(json.dumps(question))
    renamed = unlinked(question)
    assert renamed["answers"] == [entity("Jim", "Jim")] and renamed["question"] == "Who?"
    assert question == before  # which is not changed
    first, second, third = renamed["top_evidences"]
    assert first == rest  # the other fact is of him
    assert second["evidence_text"] == "Jim made it" and "Q42574" not in json.dumps([second, third])
    assert [ids(cell["entities"]) for cell in second["row"]["cells"]] == [[], ["Q44578"]]
    assert ids(third["attribute"]["values"][0]["entities"]) == ["Q44578"]
    assert {"Q44578", "1997-01-01T00:00:00Z"} <= set(ids(second["wikidata_entities"]))  # the topic and the date stay
    assert ["1997", "1997-01-01T00:00:00Z"] in second["disambiguations"]
    assert "Q44578" in [mention["id"] for mention in third["mentions"]]


def test_half_of_the_other_items_are_unknown_too_but_never_the_topic():
    others = [entity(f"Q{number}", str(number)) for number in range(1000, 1100)]
    passage = mentioning("Jim")
    passage["wikidata_entities"] = [CAMERON, *others]

    def remaining(topic=FILM):
        (only,) = unlinked(asking({**passage, "retrieved_for_entity": topic}))["top_evidences"]
        return ids(only["wikidata_entities"])

    first = remaining()
    assert 30 < len(first) < 70 and set(first) < set(ids(others))
    assert remaining() == first
    topic = next(item for item in others if item["id"] not in first)
    assert topic["id"] in remaining(topic)


UNNAMED = {
    "only a fact names the answer": asking(fact_evidence([FILM, DIRECTOR, CAMERON], FILM)),
    "there is no answer": asking(mentioning("Jim"), answers=[]),
    "it is not an item": asking(mentioning("Jim"), answers=[entity("1997-01-01T00:00:00Z", "1997")]),
    "it is the topic": asking(mentioning("Jim"), answers=[FILM]),
    "there is no evidence": asking(answers=[CAMERON]),
    "no evidence names it": asking(mentioning("Jim"), answers=[entity("Q1", "x")]),
}


@pytest.mark.parametrize("question", UNNAMED.values(), ids=UNNAMED)
def test_a_turn_whose_answer_no_text_names_teaches_nothing_of_names(question):
    assert unlinked(question) is None


# -- learning ----------------------------------------------------------------------------------------------------------


def drawn(number, groups, seed=1):
    """Choices in which the candidate with more of the first feature is right, mostly."""
    chance = np.random.default_rng(seed)
    made = []
    for place in range(number):
        rows = chance.normal(size=(4, len(Features._fields)))
        right = np.zeros(4, bool)
        right[(rows[:, 0] + 0.3 * chance.normal(size=4)).argmax()] = chance.random() < 0.9
        made.append(choice(right, str(place % groups), rows))
    return made


def test_a_choice_is_not_judged_by_weights_that_its_group_has_taught():
    sets = [drawn(40, 8), drawn(24, 8, seed=2)]
    likely = cross_validated(sets, 1.0, NAMES)
    assert [[chances.shape for chances in part] for part in likely] == [[(5,)] * 40, [(5,)] * 24]
    # what the choices of a group teach is of no matter to them, and to those of the groups of their part
    turned = [[row._replace(right=~row.right) if row.group == "3" else row for row in part] for part in sets]
    again = cross_validated(turned, 1.0, NAMES)
    changed = {choice.group: set() for choice in sets[0]}
    for choices, before, after in zip(sets, likely, again, strict=True):
        for choice, old, new in zip(choices, before, after, strict=True):
            changed[choice.group].add(not np.array_equal(old, new))
    assert changed["3"] == {False}
    assert all(len(both) == 1 for both in changed.values())  # a group is in one part, whatever the set
    assert 1 <= list(changed.values()).count({False}) < 8


def test_where_nothing_is_left_to_learn_from_all_is_equally_likely():
    ((first, second),) = cross_validated([[choice([True, False, False]), choice([False])]], 1.0, NAMES)
    assert first.tolist() == [0.25] * 4 and second.tolist() == [0.5] * 2
    assert cross_validated([[]], 1.0, NAMES) == [[]]


def test_measures_of_probabilities():
    choices = [choice([True, False]), choice([False] * 5 + [True, False]), choice([False]), choice([])]
    falling = np.array([0.3, 0.2, 0.1, 0.09, 0.08, 0.07, 0.06, 0.1])
    likely = [np.array([0.6, 0.3, 0.1]), falling, np.array([0.2, 0.8]), np.array([1.0])]
    found = judged(choices, likely)
    assert (found["questions"], found["p_at_1"], found["h_at_5"]) == (4.0, 0.25, 0.25)
    assert found["log_loss"] == pytest.approx(-np.log([0.6, 0.07, 0.8, 1.0]).mean())
    assert found["calibration_error"] == pytest.approx((0.4 + 0.3 + 0.2 + 0.0) / 4)
    both = judged([choice([True, True])], [np.array([0.5, 0.3, 0.2])])  # any of them is right
    assert both["log_loss"] == pytest.approx(-np.log(0.8))


def decision(right, read, group="a"):
    row = YesNoFeatures(read=read)
    return Choice(np.array([row]), np.empty(0), np.array([right]), 1.0, group)


DECISIONS = [decision(True, 2.0), decision(False, -2.0, "b"), decision(True, 1.5, "c"), decision(False, -1.0, "d")]


def sets_of(number=40):
    return [ChoiceSet("first", drawn(number, 8), DECISIONS), ChoiceSet("more", drawn(10, 5, seed=3), [])]


def test_the_same_sets_give_the_same_bytes():
    first, second = (train_weights(sets_of(), 3.0) for _ in range(2))
    assert first.candidates.content() == second.candidates.content() and first.yes_no == second.yes_no
    rows = first.candidates.trained_on.items()
    assert [(name, row["questions"], row["weight"]) for name, row in rows] == [("first", 40, 1.0), ("more", 10, 2.0)]
    assert first.yes_no.trained_on == {"first": {"questions": 4}, "more": {"questions": 0}}


def test_a_written_ranking_ranks_as_the_learned_one():
    sets = sets_of()
    ranking = train_weights(sets, 3.0)
    logit = fit(weighted([part.choices for part in sets]), 3.0, NAMES, RISING)
    for choice in sets[1].choices:
        candidates = [EntityCandidate({"id": f"Q{n}", "label": ""}) for n in range(len(choice.candidates))]
        rows, of_question = [Features(*row) for row in choice.candidates], QuestionFeatures(*choice.question)
        ranked = ranking.ranked(candidates, rows, of_question, lambda _: True)
        scores = {answer.entity["id"]: answer.score for answer in ranked}
        likely = logit.probabilities(choice.candidates, choice.question)[:-1].tolist()
        assert [scores[f"Q{n}"] for n in range(len(likely))] == pytest.approx(likely)
    assert all(ranking.candidates.weights[name][0] >= 0.0 for name in RISING)
    assert ranking.yes(YesNoFeatures(read=2.0)) > 0.5 > ranking.yes(YesNoFeatures(read=-2.0))


def test_questions_without_an_answer_teach_how_sure_an_answer_is_but_not_which_is_best():
    first, thin = sets_of(), [ChoiceSet("thin", [row._replace(right=row.right & False) for row in drawn(60, 8)], [])]
    before, after, again = (train_weights(first, 3.0, sets).candidates for sets in ([], [*first, *thin], first))
    changed = {name for name, weights in after.weights.items() if weights != before.weights[name]}
    assert after.features == before.features and changed <= {"none score", "none surest", "none"}
    assert after.weights["none"] > before.weights["none"]
    assert again.weights["none"][0] == pytest.approx(before.weights["none"][0], abs=0.3)


@pytest.mark.parametrize("decisions", [[], [decision(True, 1.0)], DECISIONS])
def test_a_ranking_is_written_with_its_figures(decisions):
    sets = [ChoiceSet("first", drawn(30, 6), decisions)]
    output = write_ranking(sets, parse_config({}), Path("ranking"), {"Sources": "Of my files."})
    assert output == Path("ranking") and len(AnswerRanking.read(output).candidates.trained_on) == 1
    card = (output / "README.md").read_text()
    assert "Of my files." in card and "| first |" in card and FILE in card
    assert ("first, yes or no" in card) is bool(decisions)
