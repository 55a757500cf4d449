"""The ranking of candidates: a conditional logit over named features, with "none of these", in a JSON file."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from ..support.errors import ModelError
from ..support.weights import ConditionalLogit, FeatureWeight, columns, read_model, scores
from .features import Features, Measured, QuestionFeatures
from .ranked_answers import AnswerCandidate, ordered
from .yes_no import YesNoFeatures

FILE = "answers.json"
FORMAT = 2  # of the file; raised when its keys change
SHIPPED = "snapshot:answers"
_REMEDY = "train it again (scripts/recipes/answers.py), or leave ha_ranker out for the one that ships with the project"


class TrainingSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A data set in training: its questions, how many have a right candidate, the weight of each; its yes-or-no questions."""

    name: str
    questions: int
    answered: int
    weight: float
    yes_no: int


class AnswerWeights(ConditionalLogit, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The weights of a trained ranking: `features` by the names of `features.Features`, `nothing` by those of `features.QuestionFeatures`.

    Attributes:
        model: the id of the reader's weights; empty without a reader.
        yes_no: of the odds of "yes", by the names of `yes_no.YesNoFeatures`; `yes_bias` is added.
        yes_bias: of "yes".
        l2: strength of the regularisation.
        trained_on: the data sets.
    """

    model: str
    yes_no: list[FeatureWeight]
    yes_bias: float
    l2: float
    trained_on: list[TrainingSet]

    def ranked(self, measured: Measured) -> list[AnswerCandidate]:
        """Return candidates with their probabilities, best first; the remainder to 1 is that of "none of these"."""
        chances = self.probabilities(measured.features, measured.question).tolist()
        return ordered(
            AnswerCandidate(candidate.entity, chance, candidate.places, candidate.reasons)
            for candidate, chance in zip(measured.candidates, chances, strict=True)
        )

    def yes(self, features: YesNoFeatures) -> float:
        """Return the probability that the answer to a question for yes or no is yes."""
        odds = scores(self.yes_no, columns([features], self.yes_no)) + self.yes_bias
        return float(1 / (1 + np.exp(-odds[0])))


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
