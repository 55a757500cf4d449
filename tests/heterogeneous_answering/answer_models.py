"""Rankings of answers whose weights are set by hand, and features of which only some are not 0."""

from convinse.heterogeneous_answering.candidates import EntityCandidate
from convinse.heterogeneous_answering.features import Features, Measured, QuestionFeatures
from convinse.heterogeneous_answering.ranking import FORMAT, AnswerWeights, TrainingSet
from convinse.support.weights import FeatureWeight


def weights_of(values):
    return [FeatureWeight(name, 0.0, 1.0, float(value)) for name, value in values.items()]


def answer_model(features=None, nothing=None, yes_no=None, bias=0.0, yes_bias=0.0):
    return AnswerWeights(
        format=FORMAT, model="", features=weights_of(features or {"read": 0.0}),
        nothing=weights_of(nothing or {"score": 0.0}), bias=bias, yes_no=weights_of(yes_no or {"read": 0.0}),
        yes_bias=yes_bias, l2=1.0, trained_on=[TrainingSet("own", 3, 2, 1.0, 1)],
    )  # fmt: skip


def features_of(kind, **values):
    """Features of a kind (`Features`, `QuestionFeatures`); those that are not named are 0."""
    return kind(*[0.0] * len(kind._fields))._replace(**values)


def measured_of(*values, **of_question):
    candidates = [EntityCandidate({"id": f"Q{n}", "label": str(n)}) for n in range(len(values))]
    rows = [features_of(Features, **value) for value in values]
    return Measured(candidates, rows, features_of(QuestionFeatures, **of_question))
