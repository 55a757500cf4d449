"""The questions of `bench third` and what it counts."""

from collections import Counter

from bench.third import figures_of
from convinse.formats.conversations.benchmark import read_benchmark
from places import ROOT


def test_the_conversations_outside_of_the_snapshot_are_those_of_two_sets():
    conversations = read_benchmark(ROOT / "scripts/bench/third.json", "convmix")
    assert Counter(own["conv_id"].split("-")[1] for own in conversations) == {"w27k": 12, "pages": 10}
    ids = [turn["question_id"] for own in conversations for turn in own["questions"]]
    assert len(ids) == len(set(ids)) == 118
    assert all(turn["answers"] or turn["kind"] == "unanswerable" for own in conversations for turn in own["questions"])


def test_questions_without_an_answer_are_not_counted():
    titanic = {"id": "Q44578", "label": "Titanic"}
    found = {
        "answers": [titanic],
        "pred_answers": [],
        "p_at_1": 1.0,
        "h_at_5": 1.0,
        "mrr": 1.0,
        "answer_presence": True,
    }
    missed = {**found, "p_at_1": 0.0, "h_at_5": 0.0, "mrr": 0.0, "answer_presence": False}
    figures = figures_of([{"conv_id": "a", "questions": [found, missed, {"answers": [], "pred_answers": []}]}])
    assert [figures[name] for name in ("conversations", "right", "num_questions", "h_at_5")] == [1, 1, 2, 0.5]
