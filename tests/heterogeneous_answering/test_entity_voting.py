import copy

import pytest
from literal_evidence import Known

from convinse.config import parse_config
from convinse.heterogeneous_answering.entity_voting import EntityVoting
from convinse.resources import Resources
from evidences import evidence

ITEMS = {
    "Q42574": ("James Cameron", "human", "film director"),
    "Q202765": ("Kate Winslet", "human", "actor"),
    "Q44578": ("Titanic", "film"),
    "Q84": ("London", "city"),
    "Q130232": ("drama film", "film genre"),
}
DAY = "1997-12-19T00:00:00Z"
LABELS = {item: label for item, (label, *_) in ITEMS.items()} | {DAY: "19 December 1997", "194": "194"}
KB = Known(
    {item: tuple(classes) for item, (_, *classes) in ITEMS.items()},
    [
        ("P577", "publication date", ["opened", "release date"]),
        ("P2047", "duration", ["running time"]),
        ("P57", "director", ["directed by"]),
    ],
)


def said(text, *ids, score=1.0, source="text", page="Q44578"):
    more = {"retrieved_for_entity": {"id": page, "label": LABELS[page]}, "score": score}
    return evidence(text, source, *((LABELS[item], item) for item in ids), **more)


CAST = [
    said("Titanic, director, James Cameron", "Q44578", "Q42574", score=9.0, source="kb"),
    said("Titanic, It opened on 19 December 1997 in London.", "Q44578", DAY, "Q84", score=8.0),
    said("Titanic, Running time, 194 minutes", "Q44578", "194", score=7.0, source="info"),
    said("Titanic, Kate Winslet starred.", "Q44578", "Q202765", score=3.0),
    said("Titanic, genre, drama film", "Q44578", "Q130232", score=7.5, source="kb"),
]


def turn_of(question, evidences):
    return {"question": question, "top_evidences": copy.deepcopy(evidences)}


def answer(question, evidences):
    turn = turn_of(question, evidences)
    config = parse_config({})
    answers = EntityVoting(config, Resources(config, kb=KB)).inference_on_turn(turn, ("kb", "text"))
    assert turn == turn_of(question, evidences)  # a module returns; it does not write
    return answers


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("Who made Titanic?", "James Cameron"),
        ("When did Titanic open?", "19 December 1997"),
        ("Where did Titanic open?", "London"),
        ("Which city saw Titanic first?", "London"),
        ("How long is Titanic?", "194"),
        ("Which genre is Titanic?", "drama film"),
        ("Did James Cameron direct Titanic?", "Yes"),
    ],
)
def test_the_expected_type_counts_more_than_scores(question, label):
    for evidences in (CAST, CAST[::-1]):
        assert answer(question, evidences)[0]["answer"]["label"] == label
