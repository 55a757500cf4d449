"""Examples as model inputs: one window of each pair, the answer's tokens marked in it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from convinse.encoder.tokens import Sequences, TextTokenizer, token_spans
from recipes.embedded.examples import Candidate, Example

_ANY_WINDOW = 0.2  # of texts that are cut: how often a window without the answer is learned from


@dataclass(frozen=True)
class Batch:
    """The pairs of some examples, in the order of the examples."""

    sequences: Sequences  # the model inputs, one for each pair
    sizes: list[int]  # candidates of each example
    relevant: np.ndarray  # [p] whether the text answers
    readable: np.ndarray  # [p] whether its span is learned (irrelevant texts: that they have none)
    firsts: np.ndarray  # [p] where the text begins and ends (exclusive) in the sequence
    ends: np.ndarray  # [p] where the text begins and ends (exclusive) in the sequence
    # for each pair [n, 2] first and last token of its answers; (0, 0), which is [CLS], if it has none
    spans: list[np.ndarray]


def drawn(example: Example, negatives: int, chance: random.Random) -> Example:
    """The example with one relevant candidate and some negatives; the hardest is always among them."""
    relevant = [candidate for candidate in example.candidates if candidate.relevant]
    others = [candidate for candidate in example.candidates if not candidate.relevant]
    negatives = negatives if relevant else max(1, negatives)
    drawn = others[:1] + chance.sample(others[1:], min(negatives - 1, len(others) - 1)) if others and negatives else []
    right = [chance.choice(relevant)] if relevant else []
    return replace(example, candidates=(*right, *drawn))


def drawn_list(example: Example, most: int, chance: random.Random) -> Example:
    """The example with at most `most` texts: up to half of them relevant; of the others half are the hardest, the rest drawn."""
    relevant = [candidate for candidate in example.candidates if candidate.relevant][: max(1, most // 2)]
    others = [candidate for candidate in example.candidates if not candidate.relevant]
    room = max(0, most - len(relevant))
    hardest, rest = others[: (room + 1) // 2], others[(room + 1) // 2 :]
    drawn = [*hardest, *chance.sample(rest, min(room - len(hardest), len(rest)))]
    return replace(example, candidates=(*relevant, *drawn))


def with_foreign(examples: Sequence[Example], share: float, chance: random.Random) -> list[Example]:
    """The examples, a share of them with the first text of another one, of another group, as one more negative."""
    made = []
    for example in examples:
        if chance.random() >= share:
            made.append(example)
            continue
        other = chance.choice(examples)
        mine = {candidate.text for candidate in example.candidates}
        text = other.candidates[0].text
        if other.group != example.group and other.key != example.key and text not in mine:
            example = replace(example, candidates=(*example.candidates, Candidate(text)))
        made.append(example)
    return made


def batch(examples: Sequence[Example], tokenizer: TextTokenizer, chance: random.Random | None) -> Batch:
    """The model inputs of some examples; `chance` draws the window of a long text, mostly one with the answer, else the first such."""
    pairs = [(example.query, candidate) for example in examples for candidate in example.candidates]
    windows = tokenizer.windows([(query, candidate.text) for query, candidate in pairs], tokenizer.max_length // 3)
    firsts = windows.sequences.firsts
    ends = windows.sequences.lengths - windows.trailing
    of_pair: list[list[int]] = [[] for _ in pairs]
    for place, pair in enumerate(windows.pair_of.tolist()):
        of_pair[pair].append(place)
    read, spans, readable = [], [], np.empty(len(pairs), dtype=bool)
    nothing = np.zeros((1, 2), dtype=np.int64)
    for number, (_, candidate) in enumerate(pairs):
        all_spans = token_spans(candidate.spans, windows.offsets[number])
        held = {}
        for place in of_pair[number]:
            begin = windows.begins[place]
            stop = begin + ends[place] - firsts[place]
            inside = all_spans[(all_spans[:, 0] >= begin) & (all_spans[:, 1] < stop)]
            if len(inside):
                held[place] = inside + (firsts[place] - begin)
        choices = list(held) or of_pair[number]
        if chance is None:
            place = choices[0]
        else:
            place = chance.choice(of_pair[number] if chance.random() < _ANY_WINDOW else choices)
        read.append(place)
        spans.append(held.get(place, nothing))
        readable[number] = candidate.readable and (not candidate.relevant or place in held)
    chosen = np.array(read, dtype=np.int64)
    ids, firsts = [windows.sequences.ids[place] for place in read], firsts[chosen]
    sequences = replace(windows.sequences, ids=ids, lengths=windows.sequences.lengths[chosen], firsts=firsts)
    sizes = [len(example.candidates) for example in examples]
    relevant = np.array([candidate.relevant for _, candidate in pairs])
    return Batch(sequences, sizes, relevant, readable, firsts, ends[chosen], spans)
