"""What a dump says, read with the standard library only: what the index of a knowledge base must agree with."""

import functools
import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from convinse.knowledge_base.index import KnowledgeBase

HUBS = 20
_EVERYTHING = 10**9  # facts


class BruteForce:
    def __init__(self, lines: Iterable[bytes]) -> None:
        self.labels: dict[str, str] = {}
        self.facts: list[tuple[str, ...]] = []
        self.items_of: dict[tuple[str, ...], set[str]] = {}  # a text may look like an id, too
        self.by_item: dict[str, set[int]] = defaultdict(set)
        self.types: dict[str, set[str]] = defaultdict(set)
        for line in lines:
            line = line.strip().rstrip(b",")
            if line not in (b"", b"[", b"]"):
                self._add(json.loads(line))

    def _add(self, document: dict[str, Any]) -> None:
        labels = document["labels"] or {}
        label = labels.get("en") or labels.get("mul")
        if label is None:
            return
        self.labels[document["id"]] = label["value"]
        if document["type"] != "item":
            return
        for claim in (claim for claims in (document["claims"] or {}).values() for claim in claims):
            value = _plain_value(claim["mainsnak"])
            if claim["rank"] == "deprecated" or value is None:
                continue
            fact, items = [document["id"], claim["mainsnak"]["property"], value], {document["id"]}
            items |= _items_in([claim["mainsnak"]])
            qualifiers = claim.get("qualifiers") or {}
            for prop in claim.get("qualifiers-order") or qualifiers:
                for snak in qualifiers[prop]:
                    if (value := _plain_value(snak)) is not None:
                        fact += [prop, value]
                        items |= _items_in([snak])
            for item in items:
                self.by_item[item].add(len(self.facts))
            if fact[1] == "P31":
                self.types[document["id"]] |= _items_in([claim["mainsnak"]])
            self.facts.append(tuple(fact))
            self.items_of.setdefault(tuple(fact), set()).update(items)

    @functools.cached_property
    def hubs(self) -> list[str]:
        both = self.by_item.keys() & self.labels.keys()
        return sorted(both, key=lambda item: (-len(self.by_item[item]), item))[:HUBS]

    def neighborhood(self, item: str) -> list[tuple[str, ...]]:
        return [self.facts[number] for number in self.by_item.get(item, ())]

    def frequencies(self, item: str) -> tuple[int, int]:
        """Facts with the item as subject, and facts with it elsewhere only."""
        facts = self.neighborhood(item)
        subject = sum(fact[0] == item for fact in facts)
        return subject, len(facts) - subject

    def neighbors(self, item: str) -> set[str]:
        return set().union(*(self.items_of[fact] for fact in self.neighborhood(item))) - {item}

    def direct(self, one: str, other: str) -> set[tuple[str, ...]]:
        return {self.facts[n] for n in self.by_item.get(one, set()) & self.by_item.get(other, set())}

    def connectivity(self, one: str, other: str) -> float:
        if one == other:
            return float(bool(self.neighborhood(one)))
        if self.direct(one, other):
            return 1.0
        return 0.5 if self.neighbors(one) & self.neighbors(other) else 0.0


def _items_in(snaks: Iterable[dict[str, Any]]) -> set[str]:
    return {snak["datavalue"]["value"]["id"] for snak in snaks if snak.get("datatype") == "wikibase-item"}


def _plain_value(snak: dict[str, Any]) -> str | None:
    """The id of a value as CLOCQ writes it; None for what a knowledge base leaves out."""
    kind = snak.get("datatype")
    if snak["snaktype"] != "value" or kind not in ("wikibase-item", "time", "quantity", "string", "monolingualtext"):
        return None
    value = snak["datavalue"]["value"]
    if kind == "wikibase-item":
        return value["id"]
    if kind == "quantity":
        number = value["amount"].lstrip("+")
        return number.rstrip("0").rstrip(".") if "." in number else number
    if kind == "string":
        return value
    if kind == "monolingualtext":
        return value["text"]
    precision = value["precision"]
    sign, year, month, day = re.match(r"([+-])(\d+)-(\d\d)-(\d\d)", value["time"]).groups()
    if precision < 6:
        return None
    year = int(year) if sign == "+" else 1 - int(year)
    if precision == 8:  # 1980 to 1989, and 89 BC to 80 BC
        year = year // 10 * 10 if year > 0 else 1 - ((1 - year) // 10 * 10 + 9)
    elif precision < 8:  # 1901 to 2000, and 100 BC to 1 BC
        years = {7: 100, 6: 1000}[precision]
        year = (year - 1) // years * years + 1
    month = month if precision >= 10 and month != "00" else "01"
    day = day if precision >= 11 and "00" not in (day, month) else "01"
    return f"{'-' if year < 0 else ''}{abs(year):04d}-{month}-{day}T00:00:00Z"


def read_lines(path: Path) -> Iterator[bytes]:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        yield from file


def _ids(fact: Iterable[dict[str, str]]) -> tuple[str, ...]:
    return tuple(entity["id"] for entity in fact)


def disagreements(kb: KnowledgeBase, truth: BruteForce, items: Iterable[str], rng: random.Random) -> Iterator[str]:
    """What a knowledge base says otherwise than the dump, of some items and of pairs with near and far ones."""
    everyone = sorted(truth.by_item.keys() & truth.labels.keys())
    for item in items:
        facts, types = kb.neighborhood(item, _EVERYTHING), _ids(kb.types_of(item))
        wrong = [
            entity["label"]
            for fact in facts[:100]
            for place, entity in enumerate(fact)
            if place % 2 or entity["id"] in truth.items_of.get(_ids(fact), ())
            if entity["label"] != truth.labels.get(entity["id"], entity["id"])
        ]
        for what, mine, expected in (
            ("label", kb.label(item), truth.labels.get(item, item)),
            ("neighborhood", sorted({_ids(fact) for fact in facts}), sorted(set(truth.neighborhood(item)))),
            ("labels in its facts", wrong, []),
            ("frequencies", tuple(kb.frequencies(item)), truth.frequencies(item)),
            ("types", sorted(types), sorted(truth.types.get(item, ()))),
        ):
            if mine != expected:
                yield f"{item}: {what} {mine!r:.200}, the dump has {expected!r:.200}"
        for other in _others(truth, item, everyone, rng):
            yield from path_disagreements(kb, truth, item, other)


def _others(truth: BruteForce, item: str, everyone: list[str], rng: random.Random) -> list[str]:
    """A neighbour, a neighbour's neighbour, one of the most frequent items, and any item; all with a document."""
    others = [rng.choice(everyone), rng.choice(truth.hubs)]
    near = sorted(truth.neighbors(item) & truth.labels.keys())
    if near:
        others.append(rng.choice(near))
        others.append(rng.choice(sorted(truth.neighbors(others[-1]) & truth.labels.keys())))
    return others


def path_disagreements(kb: KnowledgeBase, truth: BruteForce, one: str, other: str) -> Iterator[str]:
    expected = truth.connectivity(one, other)
    if kb.connectivity(one, other) != expected:
        yield f"{one} {other}: connectivity {kb.connectivity(one, other)}, the dump says {expected}"
    if one == other:
        return
    paths = [[_ids(fact) for fact in path] for path in kb.connect(one, other)]
    if bool(paths) != bool(expected):
        yield f"{one} {other}: {len(paths)} paths, connectivity is {expected}"
    if expected == 1:
        found = {path[0] for path in paths if len(path) == 1}
        if found != truth.direct(one, other):
            yield f"{one} {other}: {len(found)} facts hold both, the dump has {len(truth.direct(one, other))}"
    for path in paths:
        ends = (one in path[0] and other in path[-1]) or (other in path[0] and one in path[-1])
        real = all(fact in truth.items_of for fact in path)
        linked = len(path) == 1 or (real and truth.items_of[path[0]] & truth.items_of[path[1]] - {one, other})
        if len(path) > 2 or not (ends and linked and real):
            yield f"{one} {other}: no path: {path}"
            break
