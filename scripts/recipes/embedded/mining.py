"""Negatives that the model itself takes for answers (ANCE, Xiong et al., ICLR 2021)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from convinse.encoder.devices import inference
from convinse.encoder.tokens import TextTokenizer
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.losses import embed
from recipes.embedded.negatives import holds

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
    if not pool:
        return list(examples)
    vectors = embedded([text[:LONGEST_EMBEDDED] for text in pool])
    depth = min(_DEPTH, len(pool))
    found: dict[int, Example] = {}
    for start in range(0, len(answered), _PORTION):
        portion = answered[start : start + _PORTION]
        cosines = embedded([example.query for example in portion]) @ vectors.T
        best = np.argpartition(-cosines, depth - 1, axis=1)[:, :depth]
        for row, example in enumerate(portion):
            near = best[row][np.argsort(-cosines[row, best[row]], kind="stable")]
            group = example.group or example.key
            answers = [each.text[slice(*span)] for each in example.candidates for span in each.spans]
            free = (
                Candidate(text)
                for text in (pool[place] for place in near.tolist())
                if group not in groups[text] and text not in answering[example.query] and not holds(text, answers)
            )
            found[id(example)] = _in_front(example, list(islice(free, number)))
    return [found.get(id(example), example) for example in examples]


def _in_front(example: Example, mined: Sequence[Candidate]) -> Example:
    texts = {candidate.text for candidate in mined}
    right = [candidate for candidate in example.candidates if candidate.relevant]
    others = [candidate for candidate in example.candidates if not candidate.relevant and candidate.text not in texts]
    return replace(example, candidates=(*right, *mined, *others))
