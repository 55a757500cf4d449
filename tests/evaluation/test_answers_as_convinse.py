"""The measures by CONVINSE's names, on its own shapes."""

import pytest

from convinse.evaluation import answer_presence, hit_at_5, mrr_score, precision_at_1
from evidences import evidence

GOLD = [{"id": "Q7", "label": "seven"}, {"id": '"1997-01-01T00:00:00Z"', "label": "1997"}]


def ranked(*ranks_and_ids):
    return [{"answer": {"id": item, "label": item}, "score": 0.5, "rank": rank} for rank, item in ranks_and_ids]


@pytest.mark.parametrize(
    ("answers", "measures"),
    [
        ([], (0.0, 0.0, 0.0)),
        (ranked((1, "q7 ")), (1.0, 1.0, 1.0)),
        (ranked((1, "Q1"), (2, "+1997-01-01T00:00:00Z")), (0.0, 0.5, 1.0)),
        (ranked((1, "Q1"), (1, "Q7")), (1.0, 1.0, 1.0)),  # two of rank 1: each counts
        (ranked(*((rank, f"Q{rank}") for rank in range(1, 8))), (0.0, 1 / 7, 0.0)),
    ],
)
def test_measures_of_answers(answers, measures):
    assert (precision_at_1(answers, GOLD), mrr_score(answers, GOLD), hit_at_5(answers, GOLD)) == measures


def test_answer_presence_gives_the_evidences_that_answer():
    found = [evidence("a", "kb", ("x", "Q1")), evidence("b", "text", ("x", "Q7"))]
    assert answer_presence(found, GOLD) == (True, found[1:])
    assert answer_presence(found[:1], GOLD) == answer_presence([], GOLD) == (False, [])
