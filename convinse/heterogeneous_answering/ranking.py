"""The ranking of candidates and the decision for yes or no: logits over named features, in two files of a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..support.logit import Logit, feature_names, read_logit
from .candidates import EntityCandidate
from .features import Features, QuestionFeatures
from .ranked_answers import AnswerCandidate, ordered
from .yes_no import YesNoFeatures

FILE, YES_NO_FILE = "answers.json", "yes_no.json"
SHIPPED = "snapshot:answers"
NAMES = feature_names(Features._fields, QuestionFeatures._fields)
YES_NO_NAMES = feature_names(YesNoFeatures._fields)
_REMEDY = "train it again (scripts/recipes/answers.py), or leave ha_ranker out for the one that ships with the project"


class AnswerRanking:
    """A trained ranking of answers.

    Args:
        candidates: the logit of the candidates of a question, `Features` each, and of "none of these", `QuestionFeatures`.
        yes_no: that of "yes", `YesNoFeatures`; "none" is "no".
    """

    def __init__(self, candidates: Logit, yes_no: Logit) -> None:
        self.candidates, self.yes_no = candidates, yes_no

    @classmethod
    def read(cls, folder: Path, key: str = "ha_ranker") -> AnswerRanking:
        """Read the files of a folder. Raises `ModelError`: one is missing, damaged, of another version or of other features."""
        files = ((FILE, NAMES), (YES_NO_FILE, YES_NO_NAMES))
        return cls(*(read_logit(folder / file, key, _REMEDY, names) for file, names in files))

    def write(self, folder: Path) -> None:
        """Write the files into a folder."""
        (folder / FILE).write_bytes(self.candidates.content())
        (folder / YES_NO_FILE).write_bytes(self.yes_no.content())

    def ranked(
        self,
        candidates: Sequence[EntityCandidate],
        features: Sequence[Features],
        of_question: QuestionFeatures,
        admits: Callable[[EntityCandidate], bool],
    ) -> list[AnswerCandidate]:
        """Return the admitted candidates with their probabilities, best first; the remainder to 1 is that of "none of these"."""
        chances = self.candidates.probabilities(features, of_question)[:-1].tolist()
        return ordered(
            AnswerCandidate(candidate.entity, chance, candidate.places, candidate.reasons)
            for candidate, chance in zip(candidates, chances, strict=True)
            if admits(candidate)
        )

    def yes(self, features: YesNoFeatures) -> float:
        """Return the probability that the answer to a question for yes or no is yes."""
        return float(self.yes_no.probabilities([features])[0])
