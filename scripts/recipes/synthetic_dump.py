"""A synthetic Wikidata JSON dump of any size, for measurements: one entity a line, the same seed the same bytes.

    python scripts/recipes/synthetic_dump.py OUTPUT.json.gz [--items 3000000] [--facts 20000000] [--seed 1]

Degrees are Zipf-distributed, as subject and as object; 15 % of the facts have qualifiers. `--facts` counts what a
knowledge base keeps: deprecated statements and external ids come on top. OUTPUT ends in .json, .json.gz or .json.zst.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import logging
import os
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from convinse.support.files import replacing
from convinse.support.progress import progress
from convinse.support.workers import in_order

ITEMS, FACTS, SEED = 3_000_000, 20_000_000, 1
CHUNK = 20_000  # items made at a time
SUBJECT_ZIPF, SUBJECT_SHIFT = 0.6, 10.0  # the richest of 3 million items has about 5,000 facts, the poorest 2 or 3
QUALIFIED, TWO_QUALIFIERS = 0.15, 0.3
DEPRECATED, PREFERRED = 0.01, 0.03
EXTERNAL_IDS = 0.5  # an item
ALIASES = (0.38, 0.27, 0.16, 0.1, 0.06, 0.03)  # shares of items with 0, 1, 2 ... aliases: 1.28 on average
LABEL_WORDS = (0.2, 0.46, 0.23, 0.11)  # shares of labels of 1, 2, 3, 4 words
DESCRIBED, TITLED, MULTILINGUAL = 0.88, 0.4, 0.03
UNITS = 40
UNIT = "http://www.wikidata.org/entity/Q"
INSTANCE_OF, SUBCLASS_OF = 31, 279
RANKS = ("normal", "preferred", "deprecated")
DATATYPES = ("wikibase-item", "time", "quantity", "string", "monolingualtext", "external-id")
SHARES = (0.70, 0.10, 0.08, 0.09, 0.03)  # of the facts that are kept, by datatype
ITEM, TIME, QUANTITY, STRING, TEXT, EXTERNAL = range(6)

# Properties as Wikidata has them, the most used of a datatype first, filled up with made-up ones.
NAMED: tuple[tuple[int, dict[int, str]], ...] = (
    (180, {31: "instance of", 279: "subclass of", 17: "country",
           131: "located in the administrative territorial entity", 106: "occupation", 21: "sex or gender",
           27: "country of citizenship", 19: "place of birth", 161: "cast member", 50: "author", 57: "director",
           136: "genre", 407: "language of work or name", 735: "given name", 734: "family name", 69: "educated at",
           54: "member of sports team", 20: "place of death", 1412: "languages spoken, written or signed",
           166: "award received", 361: "part of", 527: "has part", 495: "country of origin", 175: "performer",
           264: "record label", 86: "composer", 58: "screenwriter", 162: "producer", 123: "publisher",
           112: "founded by", 127: "owned by", 39: "position held", 108: "employer",
           102: "member of political party", 26: "spouse", 40: "child", 22: "father", 25: "mother",
           3373: "sibling", 463: "member of", 641: "sport", 1344: "participant in", 30: "continent", 36: "capital",
           35: "head of state", 6: "head of government", 47: "shares border with", 276: "location", 180: "depicts",
           921: "main subject"}),
    (25, {569: "date of birth", 570: "date of death", 577: "publication date", 571: "inception",
          580: "start time", 582: "end time", 585: "point in time",
          576: "dissolved, abolished or demolished date", 1191: "date of first performance"}),
    (50, {1082: "population", 2046: "area", 2048: "height", 2067: "mass", 2044: "elevation above sea level",
          2047: "duration", 1104: "number of pages", 1128: "employees", 2130: "cost", 2142: "box office",
          1113: "number of episodes"}),
    (20, {1476: "title", 281: "postal code", 304: "page(s)", 433: "issue", 478: "volume",
          348: "software version identifier"}),
    (5, {1448: "official name", 1705: "native label", 1559: "name in native language", 1449: "nickname",
         1451: "motto text"}),
    (20, {214: "VIAF ID", 345: "IMDb ID", 646: "Freebase ID", 227: "GND ID", 213: "ISNI"}),
)  # fmt: skip
MODIFIERS = "original former first main official associated nominated current".split()
HEADS = """advisor architect artist base broadcaster building captain category champion character choreographer city
    coach colour commander conductor contributor curator dedication department designer developer distributor
    district editor engine event festival guest host illustrator industry influence instrument judge league
    leader manager manufacturer material mentor museum narrator office operator organizer partner patron
    period presenter program region sponsor student style subject successor team translator venue vessel
    winner""".split()
ENDS = {TIME: " date", QUANTITY: " count", STRING: " code", TEXT: " name", EXTERNAL: " ID", ITEM: ""}


class Property(NamedTuple):
    """A property: number, datatype and label."""

    number: int
    datatype: int
    label: str


class Plan(NamedTuple):
    """All that the chunks share."""

    items: int
    seed: int
    degrees: np.ndarray
    words: list[str]
    properties: list[list[Property]]  # by datatype


def make_plan(items: int, facts: int, seed: int) -> Plan:
    """Degrees, vocabulary and properties of a dump."""
    rank = np.empty(items)
    rank[_item_of_rank(np.arange(items), items) - 1] = np.arange(items)
    # each item has its "instance of"; the others follow Zipf's law, rounded so that the sum is exact
    weights = (rank + SUBJECT_SHIFT) ** -SUBJECT_ZIPF
    bounds = np.rint(np.cumsum(weights) / weights.sum() * (facts - items)).astype(np.int64)
    return Plan(items, seed, 1 + np.diff(bounds, prepend=0), _vocabulary(items, seed), _properties())


def _item_of_rank(rank: np.ndarray, items: int) -> np.ndarray:
    """The item that is the (rank + 1)-th most popular: the popular ones are spread over all numbers."""
    step = int(items * 0.6180339887) | 1
    while np.gcd(step, items) != 1:
        step += 2
    return (rank.astype(np.int64) * step + items // 3) % items + 1


def _vocabulary(items: int, seed: int) -> list[str]:
    """Made-up words, the short ones first; a tenth as many as items."""
    rng = np.random.default_rng([seed, 0])
    onsets = "b br c ch d dr f fr g gr h j k kl l m n p pr r s sh st str t tr v w z".split()
    syllables = [
        o + v + c for o in onsets for v in ("a", "e", "i", "o", "u", "ai", "ea", "ou") for c in ("", *"lmnrst")
    ]
    size = max(2_000, items // 10)
    lengths = np.where(np.arange(size * 2) < 300, 1, rng.choice([2, 3], p=[0.75, 0.25], size=size * 2))
    parts = rng.integers(0, len(syllables), (size * 2, 3)).tolist()
    words = ("".join(syllables[s] for s in row[:n]) for row, n in zip(parts, lengths.tolist(), strict=True))
    return list(dict.fromkeys(words))[:size]


def _properties() -> list[list[Property]]:
    free = iter(range(5_000, 10_000))
    found = []
    made = [f"{modifier} {head}" for modifier in MODIFIERS for head in HEADS]
    for datatype, (count, named) in enumerate(NAMED):
        properties = [Property(number, datatype, label) for number, label in named.items()]
        while len(properties) < count:
            properties.append(Property(next(free), datatype, made.pop(0) + ENDS[datatype]))
        found.append(properties)
    return found


def _zipf(rng: np.random.Generator, size: int, count: int) -> np.ndarray:
    """Ranks from 0 to size - 1 with a frequency of about 1 / (rank + 1)."""
    return np.minimum(np.exp(rng.random(count) * np.log(size + 1)) - 1, size - 1).astype(np.int64)


def popular_items(rng: np.random.Generator, items: int, count: int) -> np.ndarray:
    """Item numbers, drawn as objects are: an item as often as it is popular."""
    return _item_of_rank(_zipf(rng, items, count), items)


class _Values:
    """Draws the values of a chunk, each kind as a list of snaks without their property."""

    def __init__(self, plan: Plan, rng: np.random.Generator) -> None:
        self._plan, self._rng = plan, rng
        self.class_count = min(2_000, max(5, plan.items // 50), plan.items)

    def classes(self, count: int) -> np.ndarray:
        """Classes are the first items, Q5 the most frequent one."""
        return (_zipf(self._rng, self.class_count, count) + min(4, self.class_count - 1)) % self.class_count + 1

    def objects(self, count: int) -> np.ndarray:
        return popular_items(self._rng, self._plan.items, count)

    def items(self, numbers: np.ndarray) -> list[str]:
        return [
            f'{{"value":{{"entity-type":"item","numeric-id":{n},"id":"Q{n}"}},"type":"wikibase-entityid"}}'
            for n in numbers.tolist()
        ]

    def times(self, count: int) -> list[str]:
        rng = self._rng
        years = 2024 - (rng.random(count) ** 3 * 1000).astype(np.int64)
        precision = rng.choice([11, 10, 9], p=[0.7, 0.05, 0.25], size=count)
        months = np.where(precision >= 10, rng.integers(1, 13, count), 0)
        days = np.where(precision == 11, rng.integers(1, 29, count), 0)
        return [
            f'{{"value":{{"time":"+{y}-{m:02d}-{d:02d}T00:00:00Z","timezone":0,"before":0,"after":0,"precision":{p},'
            f'"calendarmodel":"http://www.wikidata.org/entity/Q1985727"}},"type":"time"}}'
            for y, m, d, p in _columns(years, months, days, precision)
        ]

    def quantities(self, count: int) -> list[str]:
        rng = self._rng
        amounts = np.exp(rng.random(count) * 18)
        whole = rng.random(count) < 0.7
        units = rng.integers(-UNITS, min(UNITS, self._plan.items) + 1, count)
        return [
            f'{{"value":{{"amount":"+{round(a) if w else round(a, 2)}","unit":"{UNIT + str(u) if u > 0 else 1}"}},'
            '"type":"quantity"}'
            for a, w, u in _columns(amounts, whole, units)
        ]

    def strings(self, count: int) -> list[str]:
        numbers = self._rng.integers(1, 100_000, count).tolist()
        return [f'{{"value":"{word} {n}","type":"string"}}' for word, n in zip(self.words(count), numbers, strict=True)]

    def texts(self, count: int) -> list[str]:
        return [
            f'{{"value":{{"text":"{text}","language":"en"}},"type":"monolingualtext"}}' for text in self.labels(count)
        ]

    def words(self, count: int, power: float = 3.0, share: float = 1.0) -> list[str]:
        """Words, the first of the vocabulary more often; of its first `share` only."""
        words = self._plan.words
        places = (self._rng.random(count) ** power * len(words) * share).astype(np.int64)
        return [words[place] for place in places.tolist()]

    def labels(self, count: int) -> list[str]:
        sizes = self._rng.choice(np.arange(1, len(LABEL_WORDS) + 1), p=LABEL_WORDS, size=count)
        words = [word.capitalize() for word in self.words(int(sizes.sum()))]
        ends = np.cumsum(sizes).tolist()
        return [" ".join(words[end - size : end]) for end, size in zip(ends, sizes.tolist(), strict=True)]

    def of(self, datatypes: np.ndarray, numbers: np.ndarray) -> list[str]:
        """One value for each datatype; `numbers` are the items of those that are items."""
        values = np.empty(len(datatypes), dtype=object)
        values[datatypes == ITEM] = self.items(numbers[datatypes == ITEM])
        makers = {TIME: self.times, QUANTITY: self.quantities, TEXT: self.texts}
        for datatype in (TIME, QUANTITY, STRING, TEXT, EXTERNAL):
            chosen = datatypes == datatype
            values[chosen] = makers.get(datatype, self.strings)(int(chosen.sum()))
        return values.tolist()


def _columns(*arrays: np.ndarray) -> Iterator[tuple[Any, ...]]:
    return zip(*(array.tolist() for array in arrays), strict=True)


def make_chunk(plan: Plan, number: int) -> tuple[bytes, int]:
    """The documents of a chunk of items, one a line, and how many facts they hold."""
    rng = np.random.default_rng([plan.seed, 1, number])
    values = _Values(plan, rng)
    start = number * CHUNK
    degrees = plan.degrees[start : start + CHUNK]
    terms = _terms(rng, values, len(degrees))
    claims = _claims(plan, rng, values, start, degrees)
    lines = (
        f'{{"type":"item","id":"Q{start + place}",{term},"claims":{claim}}}'
        for place, (term, claim) in enumerate(zip(terms, claims, strict=True), 1)
    )
    return ",\n".join(lines).encode(), int(degrees.sum())


def _terms(rng: np.random.Generator, values: _Values, count: int) -> list[str]:
    """Labels, descriptions, aliases and links of `count` items."""
    labels = values.labels(count)
    counts = rng.choice(len(ALIASES), p=ALIASES, size=count)
    fresh, firsts = values.labels(int(counts.sum())), values.words(int(counts.sum()))
    shares = (DESCRIBED, TITLED, MULTILINGUAL)
    adjectives, nouns, things = (values.words(count, share=0.05) for _ in range(3))
    places = values.labels(count)
    found = []
    done = 0
    columns = _columns(counts, *(rng.random(count) < share for share in shares))
    for place, (label, column) in enumerate(zip(labels, columns, strict=True)):
        size, is_described, has_title, is_multilingual = column
        language = "mul" if is_multilingual else "en"
        last = label.rpartition(" ")[2]
        # every other alias has the last word of the label, as the variants of a name have
        names = [f"{firsts[i].capitalize()} {last}" if i % 2 else fresh[i] for i in range(done, done + size)]
        done += size
        aliases = _map("en", "[" + ",".join(_text("en", name) for name in names) + "]" if names else "")
        words = f"{adjectives[place]} {nouns[place]} {things[place]} from {places[place]}"
        found.append(
            f'"labels":{_map(language, _text(language, label))},'
            f'"descriptions":{_map("en", _text("en", words) if is_described else "")},"aliases":{aliases},'
            '"sitelinks":' + _map("enwiki", f'{{"site":"enwiki","title":"{label}","badges":[]}}' if has_title else "")
        )
    return found


def _text(language: str, text: str) -> str:
    return f'{{"language":"{language}","value":"{text}"}}'


def _map(key: str, value: str) -> str:
    """A map of one key, or an empty one."""
    return f'{{"{key}":{value}}}' if value else "{}"


def _claims(plan: Plan, rng: np.random.Generator, values: _Values, start: int, degrees: np.ndarray) -> list[str]:
    """The statements of each item of a chunk, as the text of a JSON map by property."""
    count, facts = len(degrees), int(degrees.sum())
    external, deprecated = rng.poisson(EXTERNAL_IDS, count), int(facts * DEPRECATED)
    places = np.arange(count)
    parts = (np.repeat(places, degrees), np.repeat(places, external), rng.integers(0, count, deprecated))
    subject = np.concatenate(parts)
    size = len(subject)
    datatype = rng.choice(len(SHARES), p=SHARES, size=size)
    datatype[facts : size - deprecated] = EXTERNAL
    rank = (rng.random(size) < PREFERRED).astype(np.int64)
    rank[size - deprecated :] = 2
    objects = values.objects(size)
    prop = np.empty(size, dtype=np.int64)
    for kind, properties in enumerate(plan.properties):
        chosen = datatype == kind
        usual = np.array([p.number for p in properties if p.number not in (INSTANCE_OF, SUBCLASS_OF)])
        prop[chosen] = usual[_zipf(rng, len(usual), int(chosen.sum()))]
    first = np.cumsum(degrees) - degrees
    is_class = np.arange(start + 1, start + 1 + count) <= values.class_count
    datatype[first], objects[first] = ITEM, values.classes(count)
    prop[first] = np.where(is_class, SUBCLASS_OF, INSTANCE_OF)

    order = np.lexsort((prop, subject))
    subject, datatype, objects, prop, rank = (column[order] for column in (subject, datatype, objects, prop, rank))
    statements = [
        f'{{"mainsnak":{{"snaktype":"value","property":"P{p}","datavalue":{value},"datatype":"{DATATYPES[kind]}"}},'
        f'"type":"statement",{qualifiers}"id":"Q{start + s + 1}${mark:016X}","rank":"{RANKS[r]}"}}'
        for (s, p, kind, r, mark), value, qualifiers in zip(
            _columns(subject, prop, datatype, rank, rng.integers(0, 1 << 62, size)),
            values.of(datatype, objects),
            _qualifiers(plan, rng, values, size),
            strict=True,
        )
    ]
    return _grouped(statements, subject, prop, count)


def _qualifiers(plan: Plan, rng: np.random.Generator, values: _Values, size: int) -> list[str]:
    """The qualifiers of `size` statements, most of which have none: an item or a number, a date, or both."""
    found = [""] * size
    places = np.flatnonzero(rng.random(size) < QUALIFIED)
    kinds = rng.choice([ITEM, QUANTITY, TIME], p=[0.45, 0.1, 0.45], size=len(places))
    more = rng.random(len(places)) < TWO_QUALIFIERS
    one, two = values.of(kinds, values.objects(len(places))), values.times(len(places))
    numbers = [np.array([p.number for p in properties]) for properties in plan.properties]
    slots = [_zipf(rng, len(properties) - 2, len(places)) + 2 for properties in numbers[:3]]
    for i, (place, kind, is_pair) in enumerate(_columns(places, kinds, more)):
        snaks = [(numbers[kind][slots[kind][i]], kind, one[i])]
        if is_pair and kind != TIME:
            snaks.append((numbers[TIME][slots[TIME][i]], TIME, two[i]))
        maps = ",".join(
            f'"P{p}":[{{"snaktype":"value","property":"P{p}","datavalue":{value},"datatype":"{DATATYPES[k]}"}}]'
            for p, k, value in snaks
        )
        names = ",".join(f'"P{p}"' for p, _, _ in snaks)
        found[place] = f'"qualifiers":{{{maps}}},"qualifiers-order":[{names}],'
    return found


def _grouped(statements: list[str], subject: np.ndarray, prop: np.ndarray, count: int) -> list[str]:
    """Sorted statements as one map by property for each of `count` subjects."""
    starts = np.flatnonzero(np.diff(subject, prepend=-1) | np.diff(prop, prepend=-1))
    claims: list[list[str]] = [[] for _ in range(count)]
    for begin, end, s, p in _columns(starts, np.append(starts[1:], len(statements)), subject[starts], prop[starts]):
        claims[s].append(f'"P{p}":[{",".join(statements[begin:end])}]')
    return ["{" + ",".join(parts) + "}" for parts in claims]


def property_documents(plan: Plan) -> bytes:
    """The documents of the properties, one a line."""
    return ",\n".join(
        f'{{"type":"property","datatype":"{DATATYPES[p.datatype]}","id":"P{p.number}",'
        f'"labels":{_map("en", _text("en", p.label))},"descriptions":{{}},"aliases":{{}},"claims":{{}}}}'
        for properties in plan.properties
        for p in properties
    ).encode()


def _chunks(plan: Plan, processes: int) -> Generator[tuple[bytes, int], None, None]:
    numbers = range(-(-plan.items // CHUNK))
    if processes <= 1:
        return (make_chunk(plan, number) for number in numbers)
    return in_order(numbers, partial, (make_chunk, plan), processes, "the dump", "give fewer --processes")


@contextlib.contextmanager
def _opened(path: Path, suffix: str) -> Iterator[BinaryIO]:
    """A file to write to, compressed as `suffix` says."""
    with path.open("wb") as file:
        if suffix == ".gz":
            with gzip.GzipFile(filename="", mode="wb", compresslevel=1, fileobj=file, mtime=0) as compressed:
                yield compressed  # type: ignore[misc]
        elif suffix == ".zst":
            import zstandard

            with zstandard.ZstdCompressor(level=1).stream_writer(file, closefd=False) as compressed:
                yield compressed
        else:
            yield file


def write_dump(
    path: Path, items: int = ITEMS, facts: int = FACTS, seed: int = SEED, *, processes: int = 1, quiet: bool = True
) -> None:
    """Write a dump of so many items and facts; the bytes depend on these and the seed only."""
    plan = make_plan(items, facts, seed)
    with (
        replacing(path) as temporary,
        _opened(temporary, path.suffix) as file,
        contextlib.closing(_chunks(plan, processes)) as chunks,
        progress(f"writing {path.name}", facts, "facts", quiet) as advance,
    ):
        file.write(b"[\n" + property_documents(plan))
        for text, count in chunks:
            file.write(b",\n" + text)
            advance(count)
        file.write(b"\n]\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--facts", type=int, default=FACTS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()
    if options.output.suffix not in (".json", ".gz", ".zst"):
        parser.error("OUTPUT ends in .json, .json.gz or .json.zst")
    if not 1 <= options.items <= options.facts:
        parser.error("give at least one item, and at least one fact an item")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    write_dump(
        options.output, options.items, options.facts, options.seed, processes=options.processes, quiet=options.quiet
    )


if __name__ == "__main__":
    main()
