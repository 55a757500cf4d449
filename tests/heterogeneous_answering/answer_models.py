"""Rankings of answers whose weights are set by hand, and features of a candidate or a question of which only some are not 0."""

from convinse.heterogeneous_answering.answer_weights import FORMAT, AnswerWeights, TrainingSet
from convinse.heterogeneous_answering.candidate_features import Candidates, Circumstances, Features
from convinse.heterogeneous_answering.ranking import AnswerCandidate
from convinse.heterogeneous_answering.yes_no import YesNoFeatures
from convinse.support.weights import FeatureWeight


def weights_of(kind, values):
    """Weights of raw features: those that are not named count for nothing."""
    assert set(values) <= set(kind._fields)
    return [FeatureWeight(name, 0.0, 1.0, float(values.get(name, 0.0))) for name in kind._fields]


def answer_model(features=None, nothing=None, yes_no=None, bias=0.0, no_bias=0.0):
    return AnswerWeights(
        format=FORMAT, model="", features=weights_of(Features, features or {}),
        nothing=weights_of(Circumstances, nothing or {}), bias=bias, yes_no=weights_of(YesNoFeatures, yes_no or {}),
        no_bias=no_bias, l2=1.0, trained_on=[TrainingSet("own", 3, 2, 1.0, 1)],
    )  # fmt: skip


def features_of(kind, **values):
    """Features of a kind (`Features`, `Circumstances`); those that are not named are 0."""
    return kind(*[0.0] * len(kind._fields))._replace(**values)


def candidates_of(*values, **circumstances):
    """Candidates with these features each, of a question with these circumstances."""
    given = [AnswerCandidate({"id": f"Q{n}", "label": str(n)}, 0.0, (), ("votes",)) for n in range(len(values))]
    rows = [features_of(Features, **own) for own in values]
    return Candidates(given, rows, features_of(Circumstances, **circumstances), [0.0] * len(values))
