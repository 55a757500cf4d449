"""Learning the ranking of answers from feedback."""

import msgspec
import numpy as np
import pytest

from convinse.config import load_config
from convinse.heterogeneous_answering.extractive import ExtractiveAnswering
from convinse.heterogeneous_answering.features import Features, QuestionFeatures
from convinse.records.feedback import AnsweredQuestion, Feedback, read_feedback
from convinse.resources import Resources
from convinse.support.errors import ConfigError, DataError
from convinse.training.answer_ranking import ChoiceSet
from convinse.training.conditional_logit import Choice
from convinse.training.feedback import feedback_choices, learn, prior_of, train_on_feedback
from refusals import refused

CAMERON, WINSLET = {"id": "Q42574", "label": "James Cameron"}, {"id": "Q202765", "label": "Kate Winslet"}
YES, RELEASED = {"id": "Yes", "label": "Yes"}, {"id": "1997-12-19T00:00:00Z", "label": "19 December 1997"}
DIRECTOR = "Who directed the film Titanic?"


class Silent:
    """A reader that marks nothing."""

    row_form = "plain"

    def read_all(self, questions, contexts, top_k=None):
        return [[] for _ in contexts]


@pytest.fixture
def ha():
    config = load_config("lexical.yml", ha="extractive", ers_use_cache=False)
    with Resources(config) as resources:
        yield ExtractiveAnswering(config, resources, Silent())


def said(rating, answer, question=DIRECTOR, history=(), right="", conversation="a"):
    rated = AnsweredQuestion(question, [answer])
    return Feedback(conversation=conversation, history=list(history), rated=rated, rating=rating, answer=right)


def written(path, *lines):
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    return path


def test_ratings_are_choices_with_right_or_with_wrong_candidates(ha, tmp_path):
    history = [AnsweredQuestion(DIRECTOR, [CAMERON])]
    file = written(
        tmp_path / "feedback.jsonl",
        said("down", CAMERON),
        said("up", CAMERON),  # the user thinks otherwise
        said("down", WINSLET, conversation="b"),
        said("down", WINSLET, conversation="c", right="James cameron"),
        said("up", RELEASED, "When was it released?", history, conversation="d"),
        said("down", YES, "Did Kate Winslet direct the film Titanic?", conversation="e"),
    )
    learned = feedback_choices(ha, file, ["kb"])
    up, corrected, refuted = (next(row for row in learned.choices if row.group == group) for group in "acb")
    assert len(learned.choices) == 4 and up.right.sum() == corrected.right.sum() == 1 and not up.is_open
    assert (up.right == corrected.right).all()
    assert refuted.is_open and 0 < (~refuted.right).sum() < len(refuted.right) and refuted.right[up.right].all()
    (verdict,) = learned.yes_no
    assert not verdict.right[0]  # "yes" is wrong


def choice(*rows, right, **more):
    features = np.zeros((len(rows), len(Features._fields)))
    features[:, 0] = rows
    return Choice(features, np.zeros(len(QuestionFeatures._fields)), np.array(right), 1.0, "a", **more)


def chances(weights, choice):
    return prior_of(weights).probabilities(choice)


def test_a_few_ratings_change_little_and_many_more(ha):
    rated = choice(0.2, 0.1, right=[False, True])
    before = chances(ha.ranker, rated)[1]
    after = [
        chances(learn(ha.ranker, ChoiceSet("feedback", [rated] * number, []), 10.0), rated)[1]
        for number in (1, 10, 1000)
    ]
    assert before < after[0] < after[1] < after[2]
    assert chances(learn(ha.ranker, ChoiceSet("feedback", [rated], []), 1e9), rated)[1] == pytest.approx(
        before, abs=1e-4
    )


def test_a_wrong_answer_makes_the_others_and_none_likelier(ha):
    rated = choice(0.9, 0.1, right=[False, True], is_open=True)
    before, after = (
        chances(ha.ranker, rated),
        chances(learn(ha.ranker, ChoiceSet("feedback", [rated] * 100, []), 1.0), rated),
    )
    assert after[0] < before[0] and after[-1] > before[-1]


def test_feedback_that_teaches_nothing_is_refused(ha, tmp_path):
    file = written(tmp_path / "feedback.jsonl", said("up", CAMERON))
    refused(DataError, lambda: train_on_feedback(ha, ["kb"], file), "make no better ranking", "collect more")
    refused(DataError, lambda: train_on_feedback(ha, ["kb"], written(file)), "no rating", "collect more")
    ha.ranker = learn(ha.ranker, ChoiceSet("feedback", [choice(0.1, right=[True])], []), 1.0)
    refused(ConfigError, lambda: train_on_feedback(ha, ["kb"], file), "would count twice")


def test_half_a_last_line_is_passed_over_and_a_wrong_line_is_refused(tmp_path):
    file = written(tmp_path / "feedback.jsonl", said("up", CAMERON), said("down", WINSLET))
    with file.open("ab") as whole:
        whole.write(b'{"conversation": "a')
    assert [line.rating for line in read_feedback(file)] == ["up", "down"]
    file.write_bytes(b'{"note": 1}\n')
    refused(DataError, lambda: list(read_feedback(file)), "feedback.jsonl:1")
