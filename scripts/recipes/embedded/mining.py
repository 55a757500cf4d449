"""Negatives that the model itself takes for answers (ANCE, Xiong et al., ICLR 2021)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from convinse.encoder.devices import inference
from convinse.encoder.tokens import TextTokenizer
from recipes.embedded.examples import Example
from recipes.embedded.losses import embed
from recipes.embedded.negatives import holds, negatives

LONGEST_EMBEDDED = 600  # characters of a text that the embedding learns from
_DEPTH = 30  # nearest texts that are looked through
_PORTION = 4096  # queries compared at once


def with_mined(
    model: Any, tokenizer: TextTokenizer, examples: Sequence[Example], number: int, budget: int
) -> list[Example]:
    """The examples with the texts nearest to their queries in front of their negatives."""

    def embedded(texts: Sequence[str]) -> np.ndarray:
        with inference(model):
            return embed(model, tokenizer.singles(list(texts)), budget).float().cpu().numpy()

    model.eval()
    answered = [example for example in examples if example.answered]
    groups: dict[str, set[str]] = defaultdict(set)  # of each text, those that it is relevant in
    answering: dict[str, set[str]] = defaultdict(set)  # of each query, all texts that answer it
    for example in answered:
        for text in (candidate.text for candidate in example.candidates if candidate.relevant):
            groups[text].add(example.group or example.key)
            answering[example.query].add(text)
    pool = list(groups)
    vectors = embedded([text[:LONGEST_EMBEDDED] for text in pool]) if pool else np.empty((0, 0))
    found: dict[int, Example] = {}
    for start in range(0, len(answered), _PORTION):
        portion = answered[start : start + _PORTION]
        cosines = embedded([example.query for example in portion]) @ vectors.T
        for example, row in zip(portion, cosines, strict=True):
            answers = [each.text[slice(*span)] for each in example.candidates for span in each.spans]
            mined: list[str] = []
            for text in (pool[place] for place in _highest(row, _DEPTH)):
                is_other = (example.group or example.key) not in groups[text] and text not in answering[example.query]
                if len(mined) < number and is_other and not holds(text, answers):
                    mined.append(text)
            right = (candidate for candidate in example.candidates if candidate.relevant)
            others = (candidate.text for candidate in example.candidates if not candidate.relevant)
            found[id(example)] = replace(example, candidates=(*right, *negatives([*mined, *others])))
    return [found.get(id(example), example) for example in examples]


def _highest(values: np.ndarray, most: int) -> list[int]:
    """The places of the highest values, the highest first."""
    most = min(most, len(values))
    best = np.argpartition(-values, most - 1)[:most]
    return best[np.argsort(-values[best], kind="stable")].tolist()
