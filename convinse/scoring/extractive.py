"""The rules that MRQA 2019, SQuAD 2.0 and KLUE-MRC share: the normal form of a text, and the F1 of two bags of tokens.

The three differ in the value of an empty answer, see their modules.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..formats import tokens

_NAMED = 5  # ids in a warning


@lru_cache(maxsize=1 << 16)
def normalize(text: str) -> str:
    """Return `tokens.normalize` of an answer: lower case, no ASCII punctuation, no English articles, single blanks.

    Punctuation is deleted before articles and leaves no blank, so `a-ha` becomes `aha` and `U.S.` `us`. Punctuation beyond
    ASCII (`《》`, `’`, `—`) stays. The results are cached, as answers are short and come back.
    """
    return tokens.normalize(text)


def overlap_f1(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """Return the F1 of two bags of tokens; 0 if they share no token."""
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
    """Return the first few ids of a list, for a warning."""
    return ", ".join(ids[:_NAMED]) + (", ..." if len(ids) > _NAMED else "")
