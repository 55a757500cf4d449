"""Rankings of answers whose weights are set by hand, and features of which only some are not 0."""

from convinse.heterogeneous_answering.candidates import EntityCandidate
from convinse.heterogeneous_answering.features import Features, QuestionFeatures
from convinse.heterogeneous_answering.ranking import NAMES, YES_NO_NAMES, AnswerRanking
from convinse.support.logit import Logit


def logit_of(names, **weights):
    """A logit with these weights of features, which count as they are; all others are 0."""
    return Logit(
        features={},
        weights={name: [float(weights.get(name.replace(" ", "_"), 0.0))] for name in names},
        trained_on={"own": {"questions": 3}},
    )


def answer_model(yes_no=None, **weights):
    """A ranking by weights of `Features`, of "none" (`none=1.0`) and of `QuestionFeatures` (`none_score=1.0`)."""
    return AnswerRanking(logit_of(NAMES, **weights), logit_of(YES_NO_NAMES, **(yes_no or {})))


def features_of(kind, **values):
    """Features of a kind (`Features`, `QuestionFeatures`); those that are not named are 0."""
    return kind(*[0.0] * len(kind._fields))._replace(**values)


def measured_of(*values, **of_question):
    candidates = [EntityCandidate({"id": f"Q{n}", "label": str(n)}) for n in range(len(values))]
    rows = [features_of(Features, **value) for value in values]
    return candidates, rows, features_of(QuestionFeatures, **of_question)
