"""Whole sentences of files as answers, and those that decide on yes or no."""

import pytest
from asked_turns import question_of, thing

from convinse.heterogeneous_answering.ranked_answers import AnswerCandidate, answers
from convinse.heterogeneous_answering.sentences import mark_verdict, with_sentence
from convinse.records.evidence_structure import structured
from evidences import evidence

FIRST, SECOND = "The card costs 20 euros.", "Bring a passport and a photo to the desk."


def passage(source="text", **of_file):
    return {**structured(evidence(f"{FIRST} {SECOND}", source)), "score": 1.0, **of_file}


OF_FILE = {"citation": {"file": "card.txt", "headings": []}}


@pytest.mark.parametrize(
    ("question", "evidence", "score", "label"),
    [
        ("How do I apply at the desk?", passage(**OF_FILE), 0.9, SECOND),
        ("And what about the desk?", passage(**OF_FILE), 0.1, SECOND),  # of no kind, and improbable
        ("And what about the desk?", passage(**OF_FILE), 0.6, "a photo"),
        ("Who sits at the desk?", passage(**OF_FILE), 0.1, "a photo"),
        ("And what about the desk?", passage(), 0.1, "a photo"),  # of Wikipedia
        ("And what about the desk?", passage("table", **OF_FILE), 0.1, "a photo"),
    ],
)
def test_an_answer_is_its_sentence_if_a_way_is_asked_for_or_nothing_is_sure(question, evidence, score, label):
    (first,) = with_sentence(question_of(question, evidence), [AnswerCandidate(thing("a photo"), score, (0,))])
    assert first.entity["label"] == label


@pytest.mark.parametrize(("evidence", "marked"), [(passage(**OF_FILE), [SECOND]), (passage(), [])])
def test_yes_and_no_mark_the_sentence_with_most_of_the_question(evidence, marked):
    question = question_of("Do I bring a photo?", evidence)
    ranked = answers([AnswerCandidate(thing("Yes"), 0.9, (0,), ("yes_no",))], None)
    mark_verdict(question, ranked)
    spans = ranked[0].get("spans", [])
    assert [evidence["evidence_text"][span["start"] : span["end"]] for span in spans] == marked
