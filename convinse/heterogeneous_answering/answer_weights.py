"""The trained ranking of answers: a conditional logit over named features, in a file that can be read by eye."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import numpy as np

from ..support.weights import FeatureWeight, check_names, read_model, scores
from .candidate_features import Candidates, Circumstances, Features
from .yes_no import YesNoFeatures

FILE = "answers.json"
FORMAT = 1
SHIPPED = "snapshot:answers"
_REMEDY = "train it again (scripts/recipes/answers.py), or leave ha_ranker out for the one that ships with the project"


class TrainingSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was learned from: the questions of a data set, how many have a right candidate, how much each question counts;
    and its questions for yes or no."""

    name: str
    questions: int
    answered: int
    weight: float
    yes_no: int


class AnswerWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How likely each candidate answers a question, and how likely none of them does.

    The odds of a candidate are the exponential of its weighted features, those of "none" of the question's (McFadden,
    Conditional logit analysis of qualitative choice behavior, 1974).

    Attributes:
        format: of the file.
        model: the id of the reader's weights that the features were made with.
        features: of a candidate, in the order of `Features`.
        nothing: of a question, in the order of `Circumstances`; `bias` is added.
        bias: of "none".
        yes_no, no_bias: of the odds of "yes", in the order of `YesNoFeatures`; `no_bias` speaks for "no".
        l2: strength of the regularisation.
        trained_on: what was learned from.
    """

    format: int
    model: str
    features: list[FeatureWeight]
    nothing: list[FeatureWeight]
    bias: float
    yes_no: list[FeatureWeight]
    no_bias: float
    l2: float
    trained_on: list[TrainingSet]

    def probabilities(self, candidates: Candidates) -> np.ndarray:
        """[n] how likely each of n candidates is the answer; what is missing to 1 is the probability of none."""
        if not candidates.features:
            return np.zeros(0)
        odds = np.append(
            scores(self.features, candidates.features) + candidates.timely,
            scores(self.nothing, [candidates.circumstances]) + self.bias,
        )
        shares = np.exp(odds - odds.max())
        chances: np.ndarray = (shares / shares.sum())[:-1]
        return chances

    def yes(self, features: YesNoFeatures) -> float:
        """How likely a question for yes or no is answered with yes."""
        odds = float(scores(self.yes_no, [features])[0]) - self.no_bias
        return 1 / (1 + math.exp(-odds))


def read_answer_weights(folder: Path, key: str = "ha_ranker") -> AnswerWeights:
    """Read the model of a folder.

    Raises:
        ModelError: there is none, it is damaged, of another format, or of other features.
    """
    path = folder / FILE
    weights = read_model(path, AnswerWeights, FORMAT, key, _REMEDY)
    check_names(weights.features, Features._fields, f"{key}: {path}", _REMEDY)
    check_names(weights.nothing, Circumstances._fields, f"{key}: {path}", _REMEDY)
    check_names(weights.yes_no, YesNoFeatures._fields, f"{key}: {path}", _REMEDY)
    return weights
