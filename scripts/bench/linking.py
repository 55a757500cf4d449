"""Linking and search spaces over wikidata-27k, beside an exact-match baseline.

    bash run.sh bench linking

Distinct questions only: ConvQuestions repeats each conversation in 32 wordings, so a (seed, question) pair counts
once.
"""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from convinse.config import ClocqParams
from convinse.knowledge_base.dump import read_dump
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.search_space import SearchSpace
from convinse.language.language import english
from convinse.language.text import fold
from convinse.records.evidence import Entity
from recipes.embedded.wikidata import knowledge_base
from recipes.sources import wikidata_27k

from .candidates import SeedQuestion, convquestions, holds_answer, other_sets
from .harness import Bench, Figures, Spec, in_turn, note, percentile, run

P = 1000  # facts of an item
BASELINE_ITEMS = 3  # of a mention
BASELINE_WORDS = 9  # of a mention
BEST = 3
ENGINE, BASELINE = "engine", "baseline"
# set, figure, what the engine's should be, whether at least that
WANTED = (
    ("ConvQuestions, turn 0", "seed_linked", 0.84, True),
    ("ConvQuestions, turn 0", "seed_among_best", 0.78, True),
    ("ConvQuestions, turn 0", "seed_or_gold_in_space", 0.93, True),
    ("ConvQuestions, one hop", "gold_in_space", 0.95, True),
    ("ConvQuestions, one hop", "mean_facts", 1500, False),
)
COLUMNS = {
    "n": ("questions", "{}"), "seed linked": ("seed_linked", "{:.1%}"), f"in {BEST} best": ("seed_among_best", "{:.1%}"),
    "seed or gold": ("seed_or_gold_in_space", "{:.1%}"), "gold": ("gold_in_space", "{:.1%}"),
    "facts": ("mean_facts", "{:.0f}"), "items": ("mean_items", "{:.1f}"), "ms": ("median_ms", "{:.1f}"),
    "p95 ms": ("p95_ms", "{:.1f}"),
}  # fmt: skip


class Linked(NamedTuple):
    """What a system gives: facts, and items, best first."""

    facts: list[list[Entity]]
    items: list[str]


class Baseline:
    """Every n-gram that is a label or alias, its three most frequent items, the first facts of each of them."""

    def __init__(self, kb: KnowledgeBase, dump: Path) -> None:
        self._kb = kb
        items: dict[str, set[str]] = defaultdict(set)
        for document in read_dump(dump):
            if document.kind == "item":
                for name in (document.label, *document.aliases):
                    items[fold(name)].add(document.id)
        items.pop("", None)
        frequency = {item: sum(kb.frequencies(item)) for item in set().union(*items.values())}
        self._frequency = frequency
        self._items = {
            form: sorted(own, key=lambda item: (-frequency[item], int(item[1:])))[:BASELINE_ITEMS]
            for form, own in items.items()
        }

    def search(self, question: SeedQuestion) -> Linked:
        mentions = (fold(words) for words in _ngrams(question.text))
        linked = list(dict.fromkeys(item for words in mentions for item in self._items.get(words, ())))
        facts = {}
        for item in linked:
            for fact in self._kb.first_facts(item, P):
                facts.setdefault(tuple(entity["id"] for entity in fact), fact)
        return Linked(list(facts.values()), sorted(linked, key=lambda item: -self._frequency[item]))


def _ngrams(text: str) -> Iterator[str]:
    """Runs of words, the longest first, that are not all stop words."""
    tokens = re.findall(r"\w+(?:['’.&-]\w+)*\.?", text)
    for size in range(min(BASELINE_WORDS, len(tokens)), 0, -1):
        for start in range(len(tokens) - size + 1):
            words = " ".join(tokens[start : start + size])
            if any(word not in english().words.stop_words for word in fold(words).split()):
                yield words


def engine_search(kb: KnowledgeBase) -> Callable[[SeedQuestion], Linked]:
    space = SearchSpace(kb, ClocqParams(), P)

    def search(question: SeedQuestion) -> Linked:
        facts, entities = space.search(question.text)
        best = sorted(entities, key=lambda entity: -entity["score"])
        return Linked([evidence.fact for evidence in facts], [entity["item"]["id"] for entity in best])

    return search


def tally(question: SeedQuestion, linked: Linked, seconds: float) -> dict[str, float]:
    """What counts of one question; what asks for the seed entity only where that is known."""
    in_space = holds_answer(linked.facts, question.gold)
    row = {"gold_in_space": in_space, "mean_facts": len(linked.facts), "mean_items": len(linked.items)}
    row["mean_ms"] = 1000 * seconds
    if question.seed is not None:
        seed_in_space = any(entity["id"] == question.seed for fact in linked.facts for entity in fact)
        row |= {
            "seed_linked": question.seed in linked.items,
            "seed_among_best": question.seed in linked.items[:BEST],
            "seed_or_gold_in_space": in_space or seed_in_space,
        }
    return row


def summary(rows: list[dict[str, float]]) -> Figures:
    means = {key: statistics.fmean(row[key] for row in rows) for key in rows[0]}
    times = [row["mean_ms"] for row in rows]
    return {
        "questions": len(rows), **means, "median_ms": statistics.median(times),
        "p95_ms": percentile(times, 0.95),
    }  # fmt: skip


def linking(bench: Bench) -> Figures:
    note("building the index of wikidata-27k ...")
    with closing(knowledge_base(bench.folder, bench.kept)) as kb:
        baseline = Baseline(kb, wikidata_27k(bench.folder))
        systems: dict[str, Callable[[SeedQuestion], Linked]] = {ENGINE: engine_search(kb), BASELINE: baseline.search}
        for search in systems.values():  # what the first question loads is bench kb's to measure
            search(SeedQuestion("Who directed Titanic?", None, ()))
        figures: dict[str, Any] = {}
        for name, questions in {**convquestions(bench.folder), **other_sets(bench.folder, kb)}.items():
            rows: dict[str, list[dict[str, float]]] = {system: [] for system in systems}
            for system, question, seconds, linked in in_turn(systems, questions[: bench.size]):
                rows[system].append(tally(question, linked, seconds))
            figures[name] = {system: summary(own) for system, own in rows.items()}
        bench.compare(f"wikidata-27k, distinct questions; {P} facts an item", ("questions", "system"), COLUMNS, figures)
        for name, figure, bound, at_least in WANTED:
            bench.want(f"{name}: {figure}", figures[name][ENGINE][figure], bound, at_least)
        return {"build_id": kb.build_id, "sets": figures}


SPEC = Spec("linking", __doc__, {"linking": linking}, (20, None, None))

if __name__ == "__main__":
    run(SPEC)
