"""A small trained classifier of utterances: questions and acts of talk ("thanks", "are you sure?", "no, the film")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from ..config import SNAPSHOT
from ..support.errors import ModelError
from ..support.weights import read_model

TALK_MODEL = SNAPSHOT + "talk"
FILE = "acts.json"
FORMAT = 1  # of the file; raised when its keys or features change
QUESTION = "question"
ACTS = (*"greeting thanks goodbye affirm denial doubt reason repeat help sources more correction".split(), QUESTION)
_REMEDY = "train it again (scripts/recipes/talk.py)"
_LONGEST = 120  # characters of an utterance that may be talk
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[?!]")
_SIZES = (3, 4)  # of pieces of words
_SHORT = 3  # words of an utterance that is a feature as a whole
_LONG = 9  # words; longer utterances count as this long


class ActModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A multinomial logit over the words, pairs of words and pieces of words of an utterance.

    Attributes:
        weights: of each act in hundredths, by feature; see `features_of`.
        least: the least probability of talk for an utterance to be talk.
    """

    format: int
    acts: list[str]
    bias: list[float]
    weights: dict[str, list[int]]
    least: float
    trained_on: int

    def probabilities(self, utterance: str) -> np.ndarray:
        """Return the probabilities of the acts, [acts]."""
        rows = [self.weights[feature] for feature in set(features_of(utterance)) if feature in self.weights]
        odds = self.bias + np.sum(rows, axis=0) / 100 if rows else np.array(self.bias)
        shares = np.exp(odds - odds.max())
        chances: np.ndarray = shares / shares.sum()
        return chances

    def act(self, utterance: str) -> str:
        """Return the act of an utterance; `QUESTION` if it is in doubt, long or a single letter."""
        if not 1 < sum(map(str.isalpha, utterance)) <= _LONGEST:
            return QUESTION
        chances = self.probabilities(utterance)
        talk = len(self.acts) - 1
        return self.acts[int(chances[:talk].argmax())] if 1 - chances[talk] >= self.least else QUESTION

    def new_words(self, utterance: str) -> list[str]:
        """Return the folded words of an utterance that the model has not learned from."""
        tokens = (token.casefold() for token in _TOKEN.findall(utterance))
        return [token for token in tokens if token not in "?!" and f"w {token}" not in self.weights]


def read_acts(folder: Path) -> ActModel:
    """Read the classifier. Raises `ModelError` if the file is missing, damaged, or has other acts."""
    model = read_model(folder / FILE, ActModel, FORMAT, "talk", _REMEDY)
    if model.acts != list(ACTS) or {len(model.bias), *map(len, model.weights.values())} != {len(ACTS)}:
        raise ModelError(f"talk: {folder / FILE}: was trained with other acts; {_REMEDY}")
    return model


def features_of(utterance: str) -> Iterator[str]:
    """Yield the features of an utterance: its words, pairs of words, pieces of words, its length, capitals within."""
    written = _TOKEN.findall(utterance.replace("’", "'"))
    tokens = [token.casefold() for token in written]
    spoken = [token for token in tokens if token not in "?!"]
    yield from (f"w {token}" for token in tokens)
    around = ["^", *tokens, "$"]
    yield from (f"p {first} {second}" for first, second in zip(around, around[1:], strict=False))
    for token in spoken:
        piece = f"<{token}>"
        yield from (f"c {piece[at : at + size]}" for size in _SIZES for at in range(len(piece) - size + 1))
    yield f"words {min(len(spoken), _LONG)}"
    if len(spoken) <= _SHORT:
        yield f"whole {' '.join(spoken)}"
    if any(token[0].isupper() and token != "I" and not token.startswith("I'") for token in written[1:]):
        yield "capital"
