"""Examples as model inputs: one window of each pair, the answer's tokens marked in it."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from convinse.encoder.tokens import Sequences, TextTokenizer, token_spans
from recipes.embedded.examples import Candidate, Example, digest

_SPECIAL = 3  # tokens of a pair that are of no text
_ANY_WINDOW = 0.2  # of texts that are cut: how often a window without the answer is learned from


@dataclass(frozen=True)
class Batch:
    """The pairs of some examples, in the order of the examples."""

    sequences: Sequences  # the model inputs, one for each pair
    sizes: list[int]  # candidates of each example
    relevant: np.ndarray  # [p] whether the text answers
    readable: np.ndarray  # [p] whether its span is learned (irrelevant texts: that they have none)
    # for each pair [n, 2] first and last token of its answers; (0, 0), which is [CLS], if it has none
    spans: list[np.ndarray]
    groups: np.ndarray  # [e] numbers: texts of a group are not negatives of one another in the embedding

    @property
    def firsts(self) -> np.ndarray:
        """[p] where the text begins in the sequence."""
        return self.sequences.firsts

    @property
    def ends(self) -> np.ndarray:
        """[p] where the text ends (exclusive) in the sequence: [SEP] stands behind it."""
        return self.sequences.lengths - 1

    @cached_property
    def starts(self) -> np.ndarray:
        """[e + 1] where the pairs of each example begin."""
        return np.cumsum([0, *self.sizes])

    def part(self, first: int, end: int) -> "Batch":
        """Return the examples from `first` to `end`, exclusive."""
        pairs = slice(self.starts[first], self.starts[end])
        whole = self.sequences
        sequences = replace(whole, ids=whole.ids[pairs], lengths=whole.lengths[pairs], firsts=whole.firsts[pairs])
        relevant, readable, spans = self.relevant[pairs], self.readable[pairs], self.spans[pairs]
        return Batch(sequences, self.sizes[first:end], relevant, readable, spans, self.groups[first:end])

    def runs(self, first: int, end: int, most: int) -> Iterator[tuple[int, int]]:
        """Yield runs of whole examples from `first` to `end`, of about `most` tokens of texts each."""
        start, size = first, 0
        for example in range(first, end):
            lengths = self.sequences.lengths[self.starts[example] : self.starts[example + 1]]
            tokens = int((lengths - _SPECIAL).sum())
            if size and size + tokens > most:
                yield start, example
                start, size = example, 0
            size += tokens
        yield start, end

    def singles(self, texts: Sequence[np.ndarray]) -> Sequences:
        """Return `[CLS] text [SEP]` of texts that are given as tokens."""
        pair = self.sequences.ids[0]
        ids = [np.concatenate([pair[:1], text, pair[-1:]]) for text in texts]
        lengths = np.array([len(row) for row in ids])
        return replace(self.sequences, ids=ids, lengths=lengths, firsts=lengths)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return everything as arrays, which `of_arrays` reads."""
        return {
            "ids": np.concatenate(self.sequences.ids).astype(np.uint16),
            "lengths": self.sequences.lengths,
            "firsts": self.firsts,
            "special": np.array([self.sequences.second_type, self.sequences.pad_id]),
            "sizes": np.array(self.sizes),
            "relevant": self.relevant,
            "readable": self.readable,
            "spans": np.concatenate(self.spans).astype(np.uint16),
            "counts": np.array([len(spans) for spans in self.spans]),
            "groups": self.groups,
        }

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "Batch":
        """Return the batch of `arrays`."""
        ids = np.split(arrays["ids"].astype(np.int64), np.cumsum(arrays["lengths"])[:-1])
        spans = np.split(arrays["spans"].astype(np.int64), np.cumsum(arrays["counts"])[:-1])
        second_type, padding = arrays["special"].tolist()
        sequences = Sequences(ids, arrays["lengths"], arrays["firsts"], second_type, padding)
        sizes = arrays["sizes"].tolist()
        return cls(sequences, sizes, arrays["relevant"], arrays["readable"], spans, arrays["groups"])


def joined(batches: Iterable[Batch]) -> Batch:
    """Return the examples of batches of one tokenizer as one batch."""
    parts = [made.arrays() for made in batches]
    arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Batch.of_arrays({**arrays, "special": parts[0]["special"]})


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
    ids, lengths = [windows.sequences.ids[place] for place in read], windows.sequences.lengths[chosen]
    sequences = replace(windows.sequences, ids=ids, lengths=lengths, firsts=firsts[chosen])
    sizes = [len(example.candidates) for example in examples]
    relevant = np.array([candidate.relevant for _, candidate in pairs])
    groups = np.array([digest(example.group or example.key) for example in examples])
    return Batch(sequences, sizes, relevant, readable, spans, groups)
