"""Questions and acts of talk ("thanks", "are you sure?", "no, the film"), told by a logit over words, pairs and pieces of words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..config import SNAPSHOT
from ..support.logit import Logit, read_logit

TALK_MODEL = SNAPSHOT + "talk"
FILE = "acts.json"
QUESTION = "question"
ACTS = (*"greeting thanks goodbye affirm denial doubt reason repeat help sources more correction".split(), QUESTION)
_REMEDY = "train it again (scripts/recipes/talk.py)"
_LONGEST = 120  # characters of an utterance that may be talk
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[?!]")
_SIZES = (3, 4)  # of pieces of words
_SHORT = 3  # words of an utterance that is a feature as a whole
_LONG = 9  # words; longer utterances count as this long


def read_acts(folder: Path) -> Logit:
    """Read the logit. Raises `ModelError` if the file is missing, damaged, or has other acts."""
    return read_logit(folder / FILE, "talk", _REMEDY, classes=ACTS)


def act_of(logit: Logit, utterance: str) -> str:
    """Return the act of an utterance; `QUESTION` if it is in doubt, long or a single letter."""
    if not 1 < sum(map(str.isalpha, utterance)) <= _LONGEST:
        return QUESTION
    chances = logit.class_probabilities(set(features_of(utterance)))
    return ACTS[int(chances[:-1].argmax())] if chances[-1] <= 0.5 else QUESTION


def new_words(logit: Logit, utterance: str) -> list[str]:
    """Return the folded words of an utterance that the logit has not learned from."""
    tokens = (token.casefold() for token in _TOKEN.findall(utterance))
    return [token for token in tokens if token not in "?!" and f"w {token}" not in logit.weights]


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
