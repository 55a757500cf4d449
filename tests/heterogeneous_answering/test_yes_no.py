"""Yes or no from the words of evidences and the entailment head of a model."""

import math

import pytest
from asked_turns import question_of

from convinse.heterogeneous_answering.question import NO, YES
from convinse.heterogeneous_answering.yes_no import both_answers, yes_or_no
from convinse.records.evidence_structure import structured
from evidences import evidence


def text(sentence, source="text", score=1.0):
    return {**structured(evidence(sentence, source)), "score": score}


def verdict(question, *evidences, judge=None):
    return yes_or_no(question_of(question, *evidences), judge)


ELEANOR = "Did Eleanor Roosevelt believe the story?"


@pytest.mark.parametrize(
    ("sentence", "sign", "is_covered"),
    [
        ("Eleanor Roosevelt visited camps and believed the story.", 1, True),
        ("Eleanor Roosevelt visited camps and never believed the story.", -1, True),
        ("Eleanor Roosevelt visited camps.", 1, False),
        ("Something else.", 0, False),
    ],
)
def test_words_tell_how_far_an_evidence_speaks_of_the_question(sentence, sign, is_covered):
    features, _ = verdict(ELEANOR, text(sentence))
    assert math.copysign(1, features.covered) * (features.covered != 0) == sign
    assert features.is_covered is is_covered


def test_the_head_reads_the_evidences_of_any_source_that_have_most_of_the_question():
    pairs = []

    def judge(pairs_):
        pairs.extend(pairs_)
        return [0.9 if "believed" in statement else 0.5 for _, statement in pairs_]

    weaker = [text(f"Eleanor Roosevelt saw {number}.", "table", 0.2) for number in range(3)]
    telling = [text("Eleanor Roosevelt believed the story.", "info"), text("Eleanor Roosevelt believed no story.")]
    features, places = verdict(ELEANOR, *weaker, *telling, judge=judge)
    assert pairs == [(ELEANOR, decided["evidence_text"]) for decided in telling]
    assert places == (3, 4) and features.read == pytest.approx(math.log(9))


def test_odds_of_a_certain_head_are_bounded():
    features, _ = verdict(ELEANOR, text("x"), judge=lambda pairs: [1.0] * len(pairs))
    assert features.read == pytest.approx(math.log(0.98 / 0.02))


def test_without_evidences_nothing_is_told_and_nothing_read():
    features, places = verdict("Was it?", judge=lambda pairs: 1 / 0)
    assert (features, places) == verdict("Was it?") == ((0.0, 0.0), ()) and not features.is_covered


@pytest.mark.parametrize(("yes", "first"), [(0.7, YES), (0.3, NO), (0.5, NO)])
def test_both_answers_are_ranked(yes, first):
    one, other = both_answers(yes, (0,))
    assert one.entity == first and one.score + other.score == pytest.approx(1) and one.reasons == ("yes_no",)


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("Was Ida Roth the director of the Norden Works in 1999?", "Was Ida Roth the director of the Norden Works?"),
        ("In 1999 was Ida Roth the director?", "was Ida Roth the director?"),
        ("Was Ida Roth the director in 2010?", "Was Ida Roth the director in 2010?"),  # the fact does not hold then
        ("Was Ida Roth the director?", "Was Ida Roth the director?"),
    ],
)
def test_what_holds_at_the_time_of_the_question_is_read_without_it(question, read):
    ids = ("Q30", "P1037", "Q11", "P580", "1990-01-01T00:00:00Z", "P582", "2004-01-01T00:00:00Z")
    labels = ("Norden Works", "director", "Ida Roth", "start time", "1990", "end time", "2004")
    fact = [{"id": one, "label": label} for one, label in zip(ids, labels, strict=True)]
    judged = []

    def judge(pairs_):
        judged.extend(pairs_)
        return [0.5] * len(pairs_)

    dated = {**evidence(", ".join(labels), "kb", ("Ida Roth", "Q11")), "fact": fact, "score": 1.0}
    verdict(question, dated, judge=judge)
    assert [read_question for read_question, _ in judged] == [read]
