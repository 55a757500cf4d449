"""Examples as tokens, in the order in which a training reads them: one file, from which a machine without the data trains."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from convinse.encoder.tokens import Sequences, TextTokenizer
from convinse.support.errors import DataError, one_line
from convinse.support.files import replacing
from convinse.support.zstd import zstd
from recipes.embedded.batches import Batch

_NOTHING = np.zeros((1, 2), dtype=np.int64)  # the span of [CLS]
_WINDOW = 27  # 128 MB, so that equal paragraphs far apart are found


class Special(NamedTuple):
    """What the sequences of a tokenizer have besides tokens of texts."""

    start: int
    end: int
    padding: int
    second_type: int

    @classmethod
    def of(cls, tokenizer: TextTokenizer) -> "Special":
        """Return those of a tokenizer of BERT's form."""
        pair = tokenizer.pairs([("a", "a")])
        return cls(int(pair.ids[0][0]), int(pair.ids[0][-1]), pair.pad_id, pair.second_type)

    def sequences(self, pieces: Sequence[Sequence[np.ndarray]]) -> Sequences:
        """`[CLS] query [SEP] text [SEP]` of pairs of tokens, `[CLS] text [SEP]` of single ones."""
        ids, firsts = [], []
        for texts in pieces:
            parts = [[self.start]]
            for text in texts:
                parts += [text, [self.end]]
            ids.append(np.concatenate(parts).astype(np.int64))
            firsts.append(len(texts[0]) + 2)
        lengths = np.array([len(row) for row in ids])
        return Sequences(ids, lengths, np.array(firsts), self.second_type, self.padding)


@dataclass(frozen=True)
class Tokens:
    """Examples, each a list of pairs of a query and a text; e examples, p pairs, s spans, t different texts.

    Attributes:
        tokens: of all different texts, one behind the other; `starts`: [t + 1] where each begins.
        queries, texts: [p] the numbers of their texts.
        relevant, readable: [p] see `Batch`.
        spans: [s, 2] first and last token of the answers, from the beginning of their text; `span_starts`: [p + 1].
        pair_starts: [e + 1] where the pairs of each example begin.
        groups: [e] texts of examples of one group are not negatives of one another in the embedding.
    """

    tokens: np.ndarray
    starts: np.ndarray
    queries: np.ndarray
    texts: np.ndarray
    relevant: np.ndarray
    readable: np.ndarray
    spans: np.ndarray
    span_starts: np.ndarray
    pair_starts: np.ndarray
    groups: np.ndarray

    @classmethod
    def of(cls, batches: Iterable[Batch], groups: Sequence[str]) -> "Tokens":
        """Return the examples of batches; `groups` has the group of each example."""
        numbers: dict[bytes, int] = {}
        lengths: list[int] = []

        def number(ids: np.ndarray) -> int:
            data = ids.astype(np.uint16).tobytes()
            if data not in numbers:
                numbers[data] = len(numbers)
                lengths.append(len(ids))
            return numbers[data]

        queries, texts, relevant, readable, spans, counts, sizes = [], [], [], [], [], [], []
        for made in batches:
            sizes += made.sizes
            relevant.append(made.relevant)
            readable.append(made.readable)
            for ids, first, end, answers in zip(made.sequences.ids, made.firsts, made.ends, made.spans, strict=True):
                queries.append(number(ids[1 : first - 1]))
                texts.append(number(ids[first:end]))
                marked = answers - first if answers[0, 0] else answers[:0]
                spans.append(marked)
                counts.append(len(marked))
        names = {name: place for place, name in enumerate(dict.fromkeys(groups))}
        return cls(
            np.frombuffer(b"".join(numbers), np.uint16),
            _starts(lengths),
            np.array(queries, np.uint32),
            np.array(texts, np.uint32),
            np.concatenate(relevant),
            np.concatenate(readable),
            np.concatenate(spans).astype(np.uint16),
            _starts(counts),
            _starts(sizes),
            np.array([names[name] for name in groups], np.uint32),
        )

    def text(self, number: int) -> np.ndarray:
        """Return the tokens of a text."""
        return self.tokens[self.starts[number] : self.starts[number + 1]]

    def runs(self, first: int, end: int, most: int) -> Iterator[tuple[int, int]]:
        """Yield runs of whole examples from `first` to `end`, of about `most` tokens each."""
        lengths = np.diff(self.starts)
        start, size = first, 0
        for example in range(first, end):
            pairs = slice(self.pair_starts[example], self.pair_starts[example + 1])
            tokens = int(lengths[self.queries[pairs]].sum() + lengths[self.texts[pairs]].sum())
            if size and size + tokens > most:
                yield start, example
                start, size = example, 0
            size += tokens
        yield start, end

    def batch(self, first: int, end: int, special: Special) -> Batch:
        """Return the examples from `first` to `end`, exclusive, as model inputs."""
        places = range(self.pair_starts[first], self.pair_starts[end])
        pairs = [(self.text(self.queries[place]), self.text(self.texts[place])) for place in places]
        sequences = special.sequences(pairs)
        spans = []
        for place, start in zip(places, sequences.firsts.tolist(), strict=True):
            marked = self.spans[self.span_starts[place] : self.span_starts[place + 1]].astype(np.int64)
            spans.append(marked + start if len(marked) else _NOTHING)
        return Batch(
            sequences,
            np.diff(self.pair_starts[first : end + 1]).tolist(),
            self.relevant[places.start : places.stop],
            self.readable[places.start : places.stop],
            sequences.firsts,
            sequences.lengths - 1,
            spans,
        )

    def __len__(self) -> int:
        return len(self.groups)


@dataclass(frozen=True)
class Prepared:
    """The examples of a training, and those that it is validated on.

    Attributes:
        train: in the order in which they are learned from; `steps`: [n + 1] where each step begins.
        dev: by the name of their set.
        run_id: of the data; `sizes`: how many examples each set has.
    """

    train: Tokens
    steps: np.ndarray
    dev: dict[str, Tokens]
    special: Special
    run_id: str
    sizes: dict[str, int]

    def write(self, path: Path) -> None:
        """Write everything into a compressed file."""
        arrays = {"steps": self.steps, **_named("train", self.train)}
        for name, examples in self.dev.items():
            arrays |= _named(f"dev/{name}", examples)
        about = {"special": self.special, "run_id": self.run_id, "sizes": self.sizes}
        setting = zstd.CompressionParameter
        options = {setting.compression_level: 19, setting.window_log: _WINDOW, setting.enable_long_distance_matching: 1}
        with replacing(path) as temporary:
            temporary.write_bytes(zstd.compress(save(arrays, {"about": json.dumps(about)}), options=options))

    @classmethod
    def read(cls, path: Path) -> "Prepared":
        """Read the file of `write`. Raises `DataError`."""
        try:
            data = zstd.decompress(path.read_bytes(), options={zstd.DecompressionParameter.window_log_max: _WINDOW})
            size = int.from_bytes(data[:8], "little")
            about = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["about"])
            arrays = load(data)
        except (OSError, ValueError, KeyError, zstd.ZstdError, SafetensorError) as error:
            raise DataError(f"--prepared: {path}: cannot be read ({one_line(error)}); prepare it anew") from error
        names = dict.fromkeys(name.rpartition("/")[0] for name in arrays if name.startswith("dev/"))
        dev = {name.removeprefix("dev/"): _tokens(name, arrays) for name in names}
        special = Special(*about["special"])
        return cls(_tokens("train", arrays), arrays["steps"], dev, special, about["run_id"], about["sizes"])


def _starts(counts: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.array(counts, np.int64))]).astype(np.int64)


def _named(name: str, examples: Tokens) -> dict[str, np.ndarray]:
    return {f"{name}/{field.name}": np.ascontiguousarray(getattr(examples, field.name)) for field in fields(Tokens)}


def _tokens(name: str, arrays: Mapping[str, np.ndarray]) -> Tokens:
    return Tokens(*(arrays[f"{name}/{field.name}"] for field in fields(Tokens)))
