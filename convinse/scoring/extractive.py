"""What MRQA 2019, SQuAD 2.0 and KLUE-MRC really share: how a text is normalised, and the F1 of two bags of tokens.

Nothing here decides what an empty answer is worth: that is where the three differ (see their modules).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..formats import tokens

_NAMED = 5  # ids in a warning


@lru_cache(maxsize=1 << 16)
def normalize(text: str) -> str:
    """The form in which answers are compared: lower case, no ASCII punctuation, no English articles, single blanks.

    Punctuation is deleted before articles are looked for and leaves no blank, so `a-ha` becomes `aha` and `U.S.` `us`.
    Punctuation beyond ASCII (`《》`, `’`, `—`) stays. As `tokens.normalize`, which finds answers in long texts, but
    remembered: answers are short and come back.
    """
    return tokens.normalize(text)


@lru_cache(maxsize=1 << 16)
def normalize_keeping_articles(text: str) -> str:
    """As `normalize`, but `a`, `an` and `the` stay."""
    return " ".join(text.lower().translate(tokens.NO_PUNCTUATION).split())


def overlap_f1(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """The F1 of the tokens that both have, each as often as both have it; 0 when they share none (or one is empty)."""
    left: dict[str, int] = {}
    for token in gold:
        left[token] = left.get(token, 0) + 1
    common = 0
    for token in predicted:
        if left.get(token):
            left[token] -= 1
            common += 1
    if not common:
        return 0.0
    # in this order, so that the last digit is the official scripts'
    precision = common / len(predicted)
    recall = common / len(gold)
    return (2 * precision * recall) / (precision + recall)


def some(ids: Sequence[str]) -> str:
    """The first few ids of a list, for a warning."""
    return ", ".join(ids[:_NAMED]) + (", ..." if len(ids) > _NAMED else "")
