"""The scores of KLUE-MRC, by hand (tests/cases/extractive_scores.yml) and beside the plain rules."""

import plain_rules
import pytest
from hypothesis import given
from hypothesis import strategies as st

from case_tables import each_case
from convinse.scoring.klue_mrc import evaluate
from convinse.support.errors import ScoringError

KOREAN = st.lists(st.sampled_from(["한국", "한국은", "《책》", "the", "2020년", "?", "A"]), max_size=3).map(" ".join)
GOLD = st.lists(KOREAN.map(lambda text: "가 " + text), max_size=2)
PROBABILITIES = st.sampled_from([0.0, 0.2, 0.5, 0.5, 0.9, 1.0])
QUESTIONS = st.lists(st.tuples(GOLD, KOREAN, PROBABILITIES), min_size=1, max_size=7)


def prediction(qid, text, probability=0.0):
    return {"id": qid, "prediction_text": text, "no_answer_probability": probability}


def reference(qid, *texts, unanswerable=False):
    return {"id": qid, "answers": [{"text": text} for text in texts], "unanswerable": unanswerable}


def both(questions):
    """Predictions and references of (gold texts, prediction, probability); no gold text: unanswerable."""
    pairs = [(f"q{number}", *question) for number, question in enumerate(questions)]
    return (
        [prediction(qid, text, probability) for qid, _, text, probability in pairs],
        [reference(qid, *golds, unanswerable=not golds) for qid, golds, _, _ in pairs],
    )


def single(gold, text, **options):
    return evaluate([prediction("q", text)], [reference("q", *gold, unanswerable=not gold)], **options)


def test_the_example_of_the_metric_card():
    qid = "klue-mrc-v1_train_12311"
    result = evaluate(
        [{"prediction_text": "2020", "id": qid, "no_answer_probability": 0.0}],
        [{"answers": {"answer_start": [38], "text": ["2020"]}, "id": qid}],
    )
    expected = {
        "exact": 100.0, "f1": 100.0, "total": 1, "HasAns_exact": 100.0, "HasAns_f1": 100.0, "HasAns_total": 1,
        "best_exact": 100.0, "best_exact_thresh": 0.0, "best_f1": 100.0, "best_f1_thresh": 0.0,
    }  # fmt: skip
    assert result == expected and list(result) == list(expected)
    no_probability = evaluate([{"id": "q", "prediction_text": "x"}], [reference("q", "x")])
    assert not [name for name in no_probability if name.startswith("best")]
    plausible = {"id": "q", "answers": {"text": ["서울"]}, "unanswerable": True}
    assert [evaluate([prediction("q", text)], [plausible])["NoAns_exact"] for text in ("서울", "")] == [0.0, 100.0]


@each_case("extractive_scores", "klue")
def test_scores_by_hand(case):
    result = single(case["gold"], case["klue"])
    assert (result["exact"], result["f1"]) == (case["exact"], pytest.approx(case["f1"]))
    groups = ("HasAns_exact", "NoAns_exact") if case["gold"] else ("NoAns_exact", "HasAns_exact")
    assert groups[0] in result and groups[1] not in result


@each_case("unscorable", "klue")
def test_questions_that_cannot_be_scored(case):
    with pytest.raises(ScoringError, match=case["klue"]):
        evaluate(case["predictions"], case["references"])


@given(QUESTIONS, st.sampled_from([0.1, 0.5, 1.0]))
def test_the_same_as_the_plain_rules(questions, threshold):
    result = evaluate(*both(questions), threshold)
    golds, texts, probabilities = plain_rules.columns(questions)
    assert result == plain_rules.squad2(golds, texts, probabilities, threshold)


@given(QUESTIONS, st.randoms(use_true_random=False))
def test_in_range_and_whatever_the_order_of_references_and_answers(questions, shuffler):
    predictions, references = both(questions)
    result = evaluate(predictions, references)
    assert all(0.0 <= value <= 100.0 for name, value in result.items() if not name.endswith("total"))
    shuffled = [
        {**item, "answers": {"text": [answer["text"] for answer in reversed(item["answers"])]}}
        for item in shuffler.sample(references, len(references))
    ]
    assert evaluate(predictions, shuffled) == pytest.approx(result)
