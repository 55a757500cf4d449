"""Linking and search spaces over wikidata-27k, beside an exact-match baseline.

    bash run.sh bench linking [--kb DIR] [--misses]

Distinct questions only: ConvQuestions repeats each conversation in 32 wordings, so a (seed, question) pair counts
once. The data lies in ../shared/data or CONVINSE_DATA.
"""

from __future__ import annotations

import argparse
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
# set -> (figure, what the engine's should be, whether at least that)
WANTED = {
    "ConvQuestions, turn 0": (
        ("seed_linked", 0.84, True),
        ("seed_among_best", 0.78, True),
        ("seed_or_gold_in_space", 0.93, True),
    ),
    "ConvQuestions, one hop": (("gold_in_space", 0.95, True), ("mean_facts", 1500, False)),
}
SHARES = ("seed_linked", "seed_among_best", "seed_or_gold_in_space", "gold_in_space")  # None without seed entities


class Linked(NamedTuple):
    """What a system gives: facts and (item, score, words of the question), best first."""

    facts: list[list[Entity]]
    items: list[tuple[str, float, str]]


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
        linked: dict[str, str] = {}
        for words in _ngrams(question.text):
            for item in self._items.get(fold(words), ()):
                linked.setdefault(item, words)
        facts = {}
        for item in linked:
            for fact in self._kb.neighborhood(item, P):
                facts.setdefault(tuple(entity["id"] for entity in fact), fact)
        scored = [(item, float(self._frequency[item]), words) for item, words in linked.items()]
        return Linked(list(facts.values()), sorted(scored, key=lambda row: -row[1]))


def _ngrams(text: str) -> Iterator[str]:
    """Runs of words, the longest first, that are not all stop words."""
    tokens = re.findall(r"\w+(?:['’.&-]\w+)*\.?", text)
    for size in range(min(BASELINE_WORDS, len(tokens)), 0, -1):
        for start in range(len(tokens) - size + 1):
            words = " ".join(tokens[start : start + size])
            if any(word not in english().words.stop_words for word in fold(words).split()):
                yield words


def engine_search(kb: KnowledgeBase) -> Callable[[SeedQuestion], Linked]:
    """The project's own search, with default parameters."""
    space = SearchSpace(kb, ClocqParams(), P)

    def search(question: SeedQuestion) -> Linked:
        facts, entities = space.search(question.text)
        items = [(e["item"]["id"], e["score"], e["question_word"]) for e in entities]
        return Linked([evidence.fact for evidence in facts], sorted(items, key=lambda item: -item[1]))

    return search


class Tally:
    """Counts what a system gives for the questions of a set."""

    def __init__(self) -> None:
        self._rows: list[dict[str, float]] = []
        self.misses: list[tuple[SeedQuestion, Linked]] = []

    def add(self, question: SeedQuestion, linked: Linked, seconds: float) -> None:
        in_space = holds_answer(linked.facts, question.gold)
        row = {
            "gold_in_space": in_space, "facts": len(linked.facts), "items": len(linked.items), "ms": seconds * 1000,
        }  # fmt: skip
        missed = not in_space
        if question.seed is not None:
            items = [item for item, _, _ in linked.items]
            seed_in_space = any(entity["id"] == question.seed for fact in linked.facts for entity in fact)
            row |= {
                "seed_linked": question.seed in items,
                "seed_among_best": question.seed in items[:BEST],
                "seed_or_gold_in_space": in_space or seed_in_space,
            }
            missed = not (row["seed_among_best"] and row["seed_or_gold_in_space"])
        self._rows.append(row)
        if missed:
            self.misses.append((question, linked))

    def figures(self) -> Figures:
        def mean(key: str) -> float | None:
            return statistics.fmean(row[key] for row in self._rows) if key in self._rows[0] else None

        milliseconds = [row["ms"] for row in self._rows]
        return {
            **{share: mean(share) for share in SHARES}, "mean_facts": mean("facts"), "mean_items": mean("items"),
            "median_ms": statistics.median(milliseconds), "p95_ms": percentile(milliseconds, 0.95),
        }  # fmt: skip


def linking(bench: Bench) -> Figures:
    """All systems on all sets."""
    if bench.options.kb is None:
        note("building the index of wikidata-27k ...")
    with closing(
        KnowledgeBase(bench.options.kb) if bench.options.kb else knowledge_base(bench.folder, bench.kept)
    ) as kb:
        baseline = Baseline(kb, wikidata_27k(bench.folder))
        systems: dict[str, Callable[[SeedQuestion], Linked]] = {ENGINE: engine_search(kb), BASELINE: baseline.search}
        for search in systems.values():  # what the first question loads is bench kb's to measure
            search(SeedQuestion("Who directed Titanic?", None, ()))
        sets = {
            name: own[: bench.size]
            for name, own in {**convquestions(bench.folder), **other_sets(bench.folder, kb)}.items()
        }
        tallies = {name: {system: Tally() for system in systems} for name in sets}
        for name, questions in sets.items():
            for system, question, seconds, linked in in_turn(systems, questions):
                tallies[name][system].add(question, linked, seconds)
        figures = {name: {system: tally.figures() for system, tally in own.items()} for name, own in tallies.items()}
        _show(bench, figures, {name: len(questions) for name, questions in sets.items()})
        if bench.options.misses:
            for name, own in tallies.items():
                _show_misses(name, own[ENGINE], kb)
        for name, wanted in WANTED.items():
            for figure, bound, at_least in wanted:
                bench.want(f"{name}: {figure}", figures[name][ENGINE][figure], bound, at_least)
        counted = {name: {"questions": len(sets[name]), **own} for name, own in figures.items()}
        return {"build_id": kb.build_id, "sets": counted}


def _show(bench: Bench, figures: dict[str, dict[str, Any]], counts: dict[str, int]) -> None:
    def cells(system: str, row: dict[str, Any]) -> list[str]:
        shares = ("-" if row[share] is None else f"{row[share]:.1%}".rstrip("%") for share in SHARES)
        return [system, *shares, f"{row['mean_facts']:.0f}", f"{row['median_ms']:.1f}", f"{row['p95_ms']:.1f}"]

    groups = [
        ((name, str(counts[name])), [cells(*row) for row in systems.items()]) for name, systems in figures.items()
    ]
    columns = (
        "questions",
        "n",
        "system",
        "seed linked",
        f"in {BEST} best",
        "seed or gold",
        "gold",
        "facts",
        "ms",
        "p95 ms",
    )
    bench.show_groups(f"wikidata-27k, distinct questions; shares in %, {P} facts an item", columns, groups, 3)


def _show_misses(name: str, tally: Tally, kb: KnowledgeBase) -> None:
    """Print the questions that the engine missed, and what it linked instead."""
    print(f"\n{name}: {len(tally.misses)} missed")
    for question, linked in tally.misses:
        wanted = [*([question.seed] if question.seed else []), *question.gold[:3]]
        best = "; ".join(f"{words} = {item} {kb.label(item)} ({score:.2f})" for item, score, words in linked.items[:5])
        print(f"- {question.text}")
        print(f"  wanted {', '.join(f'{w} {kb.label(w)}' for w in wanted)}")
        print(f"  linked {best or 'nothing'}; {len(linked.facts)} facts")


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kb", type=Path, metavar="DIR", help="an index of wikidata-27k; default: build one")
    parser.add_argument("--misses", action="store_true", help="print the missed questions with what was linked")


SPEC = Spec("linking", __doc__, {"linking": linking}, (20, None, None), options=_options)

if __name__ == "__main__":
    run(SPEC)
