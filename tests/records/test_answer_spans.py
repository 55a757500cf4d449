import pytest

from convinse.records.answer_spans import answer_spans

RELEASED = "Mad Men, First aired is July 19, 2007, Last aired is October 18, 2007"
EVIDENCES = [
    {
        "evidence_text": RELEASED,
        "mentions": [
            {"start": 0, "end": 7, "id": "Q1"},
            {"start": 24, "end": 37, "id": "2007-07-19T00:00:00Z"},
            {"start": 53, "end": 69, "id": "2007-10-18T00:00:00Z"},
        ],
    },
    {
        "evidence_text": "Lease, Term, 6 months, Rent, $480.00",
        "mentions": [{"start": 13, "end": 14, "id": "6"}, {"start": 30, "end": 36, "id": "480"}],
    },
    {"evidence_text": "Jacky said that jack, Jack\u2019s friend, is no hijacker: \U0001f600 Jack"},
]


def said(label, places, name=None, **more):
    answer = {"answer": {"id": name or label, "label": label}, "evidences": places, **more}
    return [
        (span["evidence"], EVIDENCES[span["evidence"]]["evidence_text"][span["start"] : span["end"]])
        for span in answer_spans(answer, EVIDENCES)
    ]


@pytest.mark.parametrize(
    ("label", "name", "places", "spans"),
    [
        ("Mad Men", "Q1", [0], [(0, "Mad Men")]),
        ("19 July 2007", "2007-07-19T00:00:00Z", [0], [(0, "July 19, 2007")]),
        ("2007", "2007-01-01T00:00:00Z", [0], [(0, "July 19, 2007"), (0, "October 18, 2007")]),
        ("6 months", "6", [1], [(1, "6 months")]),
        ("$480.00", "480", [1], [(1, "$480.00")]),
        ("Jack", None, [2, 0], [(2, "jack"), (2, "Jack"), (2, "Jack")]),
        ("Jack", None, [], []),
        ("Jack", None, [7, -1, "x"], []),
        (" ", "Q9", [0, 1], []),
    ],
)
def test_where_evidences_say_an_answer(label, name, places, spans):
    assert said(label, places, name) == spans


def test_a_verdict_has_no_place():
    assert said("No", [2], reasons=["yes_no"]) == []
    assert said("No", [2]) == [(2, "no")]
