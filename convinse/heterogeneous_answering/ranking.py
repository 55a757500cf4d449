"""The ranking of candidates: a conditional logit over named features, with "none of these", in a JSON file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from ..support.errors import ModelError
from ..support.weights import FeatureWeight, read_model, scores
from .features import Features, Measured, QuestionFeatures
from .ranked_answers import AnswerCandidate, ordered
from .yes_no import YesNoFeatures

FILE = "answers.json"
FORMAT = 2
SHIPPED = "snapshot:answers"
_REMEDY = "train it again (scripts/recipes/answers.py), or leave ha_ranker out for the one that ships with the project"


class TrainingSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A data set in training: its questions, how many have a right candidate, the weight of each; its yes-or-no questions."""

    name: str
    questions: int
    answered: int
    weight: float
    yes_no: int


class AnswerWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The weights of a trained ranking.

    The odds of a candidate are the exponential of its weighted features, those of "none of these" of the question's (McFadden,
    Conditional logit analysis of qualitative choice behavior, 1974).

    Attributes:
        format: of the file.
        model: the id of the reader's weights; empty without a reader.
        features: of a candidate, by the names of `features.Features`.
        nothing: of a question, by the names of `features.QuestionFeatures`; `bias` is added.
        bias: of "none of these".
        yes_no: of the odds of "yes", by the names of `yes_no.YesNoFeatures`; `yes_bias` is added.
        yes_bias: of "yes".
        l2: strength of the regularisation.
        trained_on: the data sets.
    """

    format: int
    model: str
    features: list[FeatureWeight]
    nothing: list[FeatureWeight]
    bias: float
    yes_no: list[FeatureWeight]
    yes_bias: float
    l2: float
    trained_on: list[TrainingSet]

    def ranked(self, measured: Measured) -> list[AnswerCandidate]:
        """Return candidates with their probabilities, best first; the remainder to 1 is that of "none of these"."""
        odds = np.append(
            scores(self.features, _columns(measured.features, self.features)),
            scores(self.nothing, _columns([measured.question], self.nothing)) + self.bias,
        )
        shares = np.exp(odds - odds.max())
        chances = (shares / shares.sum())[:-1].tolist()
        return ordered(
            AnswerCandidate(candidate.entity, chance, candidate.places, candidate.reasons)
            for candidate, chance in zip(measured.candidates, chances, strict=True)
        )

    def yes(self, features: YesNoFeatures) -> float:
        """Return the probability that the answer to a question for yes or no is yes."""
        odds = scores(self.yes_no, _columns([features], self.yes_no)) + self.yes_bias
        return float(1 / (1 + np.exp(-odds[0])))


def _columns(rows: Sequence[NamedTuple], weights: Sequence[FeatureWeight]) -> np.ndarray:
    columns = [[getattr(row, weight.name) for weight in weights] for row in rows]
    return np.array(columns).reshape(len(rows), len(weights))


def read_answer_weights(folder: Path, key: str = "ha_ranker") -> AnswerWeights:
    """Read the model of a folder.

    Raises:
        ModelError: the file is missing, damaged, of another format, or has an unknown feature.
    """
    weights = read_model(folder / FILE, AnswerWeights, FORMAT, key, _REMEDY)
    rows = ((weights.features, Features), (weights.nothing, QuestionFeatures), (weights.yes_no, YesNoFeatures))
    for features, kind in rows:
        for feature in features:
            if feature.name not in kind._fields:
                raise ModelError(f"{key}: {folder / FILE}: unknown feature {feature.name}; {_REMEDY}")
    return weights
