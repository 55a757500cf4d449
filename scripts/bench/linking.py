"""Linking and search spaces over wikidata-27k, beside an exact-match baseline.

    bash run.sh bench linking
    bash run.sh bench linking [--kb DIR] [--misses]

Distinct questions only: ConvQuestions repeats each conversation in 32 wordings, so a (seed, question) pair counts
once. The data lies in ../shared/data or CONVINSE_DATA; the figures go to results/bench/linking.json.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from convinse.config import ClocqParams, project_root
from convinse.knowledge_base.build import build
from convinse.knowledge_base.dump import read_dump
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.search_space import SearchSpace
from convinse.language.text import STOP_WORDS, fold
from convinse.records.evidence import Entity

OUTPUT = Path("results/bench/linking.json")
P = 1000  # facts of an item
BASELINE_ITEMS = 3  # of a mention
BASELINE_WORDS = 9  # of a mention
BEST = 3
ENGINE, BASELINE = "engine", "baseline"
# what issue 3 asks of the engine: (figure, bound, whether the figure is at least the bound)
BOUNDS = {
    "ConvQuestions, turn 0": (
        ("seed_linked", 0.84, True),
        ("seed_among_best", 0.78, True),
        ("seed_or_gold_in_space", 0.93, True),
    ),
    "ConvQuestions, one hop": (("gold_in_space", 0.95, True), ("mean_facts", 1500, False)),
}
_ITEM = re.compile(r"Q[1-9][0-9]*")
_YEAR = re.compile(r"[0-9]{4}")
_STAMP = re.compile(r"([0-9]{4})-[0-9]{2}-[0-9]{2}T")


class Question(NamedTuple):
    """A question, its seed entity where one is known, and its gold answers: item ids, time stamps or texts."""

    text: str
    seed: str | None
    gold: tuple[str, ...]


class Found(NamedTuple):
    """What a system finds: facts and (item, score, words of the question), best first."""

    facts: list[list[Entity]]
    items: list[tuple[str, float, str]]


@dataclass(frozen=True)
class Figures:
    """The figures of a system over a set of questions; shares are None where the data has no seed entity."""

    seed_linked: float | None
    seed_among_best: float | None
    seed_or_gold_in_space: float | None
    gold_in_space: float
    mean_facts: float
    mean_items: float
    median_ms: float
    p95_ms: float


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
            form: sorted(found, key=lambda item: (-frequency[item], int(item[1:])))[:BASELINE_ITEMS]
            for form, found in items.items()
        }

    def search(self, text: str) -> Found:
        linked: dict[str, str] = {}
        for words in _ngrams(text):
            for item in self._items.get(fold(words), ()):
                linked.setdefault(item, words)
        facts = {}
        for item in linked:
            for fact in self._kb.neighborhood(item, P):
                facts.setdefault(tuple(entity["id"] for entity in fact), fact)
        scored = [(item, float(self._frequency[item]), words) for item, words in linked.items()]
        return Found(list(facts.values()), sorted(scored, key=lambda found: -found[1]))


def _ngrams(text: str) -> Iterator[str]:
    """Runs of words, the longest first, that are not all stop words."""
    tokens = re.findall(r"\w+(?:['’.&-]\w+)*\.?", text)
    for size in range(min(BASELINE_WORDS, len(tokens)), 0, -1):
        for start in range(len(tokens) - size + 1):
            words = " ".join(tokens[start : start + size])
            if any(word not in STOP_WORDS for word in fold(words).split()):
                yield words


def engine_search(kb: KnowledgeBase) -> Callable[[str], Found]:
    """The project's own search, with default parameters."""
    space = SearchSpace(kb, ClocqParams(), P)

    def search(text: str) -> Found:
        facts, entities = space.search(text)
        items = [(e["item"]["id"], e["score"], e["question_word"]) for e in entities]
        return Found([found.fact for found in facts], sorted(items, key=lambda item: -item[1]))

    return search


def data_folder() -> Path:
    """The shared data; ends the program when there is none."""
    folder = Path(os.environ.get("CONVINSE_DATA") or project_root().parent / "shared" / "data")
    if not (folder / "wikidata-27k").is_dir():
        raise SystemExit(f"bench: {folder}/wikidata-27k: no such data; set CONVINSE_DATA to the folder of shared data")
    return folder


def dump_of(folder: Path) -> Path:
    """The dump of wikidata-27k."""
    return folder / "wikidata-27k" / "wikidata-27k.json.gz"


def _read(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def convquestions(folder: Path) -> dict[str, list[Question]]:
    """Turn 0, and the turns one hop from the seed entity with its label in front; each (seed, question) once."""
    first: dict[tuple[str, str], Question] = {}
    one_hop: dict[tuple[str, str], Question] = {}
    for conversation in _read(folder / "convquestions" / "val_wd27k.json.gz"):
        seed = conversation["questions"][0]["entities"][0]
        for turn in conversation["questions"]:
            text = turn["question"]
            gold = tuple(answer["id"] for answer in turn["answers"])
            if turn["turn"] == 0:
                first.setdefault((seed["id"], text), Question(text, seed["id"], gold))
            if turn["one_hop"] and turn["label_agrees"] is not False:
                one_hop.setdefault((seed["id"], text), Question(f"{seed['label']} {text}", seed["id"], gold))
    return {"ConvQuestions, turn 0": list(first.values()), "ConvQuestions, one hop": list(one_hop.values())}


def other_sets(folder: Path, kb: KnowledgeBase) -> dict[str, list[Question]]:
    """The questions of three more data sets that have an answer in the knowledge base; they name no seed entities."""

    def kept(pairs: Iterable[tuple[str, list[str]]]) -> list[Question]:
        distinct = {
            text: Question(text, None, tuple(gold))
            for text, gold in pairs
            if any(_ITEM.fullmatch(answer) and kb.has(answer) for answer in gold)
        }
        return list(distinct.values())

    def faith(name: str) -> list[Question]:
        return kept(
            (entry["Question"], [a.get("WikidataQid") or a.get("AnswerArgument") or "" for a in entry["Answer"]])
            for entry in _read(folder / name / "dev.json.gz")
        )

    lcquad = _read(folder / "lcquad2-cq" / "LC_QuAD20_CQ.dev.json.gz")
    return {
        "LC-QuAD 2.0 CQ dev": kept((entry["question"], entry["answers"]) for entry in lcquad),
        "TimeQuestions dev": faith("timequestions"),
        "TIQ dev": faith("tiq"),
    }


def holds_answer(facts: Iterable[list[Entity]], gold: Iterable[str]) -> bool:
    """Whether a gold answer is among the entities of the facts; a year also as the year of a date."""
    entities = [entity for fact in facts for entity in fact]
    ids = {entity["id"] for entity in entities}
    texts = [answer for answer in gold if not _ITEM.fullmatch(answer) and answer.casefold() not in ("yes", "no", "")]
    if any(answer in ids for answer in gold if _ITEM.fullmatch(answer)):
        return True
    if not texts:
        return False
    labels = {entity["label"].casefold() for entity in entities}
    years = {match[1] for entity_id in ids if (match := _STAMP.match(entity_id))}
    return any(text in ids or text.casefold() in labels or (_YEAR.fullmatch(text) and text in years) for text in texts)


def percentile(values: list[float], share: float) -> float:
    """The value that `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Tally:
    """Counts what a system finds for the questions of a set."""

    def __init__(self) -> None:
        self._rows: list[dict[str, float]] = []
        self.misses: list[tuple[Question, Found]] = []

    def add(self, question: Question, found: Found, seconds: float) -> None:
        in_space = holds_answer(found.facts, question.gold)
        row = {"gold": in_space, "facts": len(found.facts), "items": len(found.items), "ms": seconds * 1000}
        missed = not in_space
        if question.seed is not None:
            items = [item for item, _, _ in found.items]
            seed_in_space = any(entity["id"] == question.seed for fact in found.facts for entity in fact)
            row |= {
                "linked": question.seed in items,
                "best": question.seed in items[:BEST],
                "space": in_space or seed_in_space,
            }
            missed = not (row["best"] and row["space"])
        self._rows.append(row)
        if missed:
            self.misses.append((question, found))

    def figures(self) -> Figures:
        def mean(key: str) -> float | None:
            return statistics.fmean(row[key] for row in self._rows) if key in self._rows[0] else None

        milliseconds = [row["ms"] for row in self._rows]
        return Figures(
            mean("linked"), mean("best"), mean("space"),
            mean("gold") or 0.0, mean("facts") or 0.0, mean("items") or 0.0,
            statistics.median(milliseconds), percentile(milliseconds, 0.95),
        )  # fmt: skip


def measure(questions: list[Question], systems: dict[str, Callable[[str], Found]]) -> dict[str, Tally]:
    """Ask every question of every system in turn; the order changes from question to question."""
    tallies = {name: Tally() for name in systems}
    for number, question in enumerate(questions):
        names = list(systems) if number % 2 else list(reversed(systems))
        for name in names:
            start = time.perf_counter()
            found = systems[name](question.text)
            tallies[name].add(question, found, time.perf_counter() - start)
    return tallies


def failed_bounds(results: dict[str, dict[str, Figures]]) -> list[str]:
    """The bounds of the issue that the engine does not keep."""
    return [
        f"{name}: {figure} is {value:.3f}, wanted {'at least' if at_least else 'at most'} {bound}"
        for name, bounds in BOUNDS.items()
        for figure, bound, at_least in bounds
        for value in [getattr(results[name][ENGINE], figure)]
        if (value < bound if at_least else value > bound)
    ]


def show(results: dict[str, dict[str, Figures]], counts: dict[str, int]) -> None:
    """Print the table."""
    table = Table(title=f"wikidata-27k, distinct questions; shares in %, {P} facts an item", title_justify="left")
    for column in (
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
    ):
        table.add_column(column, justify="left" if column in ("questions", "system") else "right")
    for name, systems in results.items():
        for system, figures in systems.items():
            shares = (
                figures.seed_linked,
                figures.seed_among_best,
                figures.seed_or_gold_in_space,
                figures.gold_in_space,
            )
            table.add_row(
                name if system == ENGINE else "",
                str(counts[name]) if system == ENGINE else "",
                system,
                *("-" if share is None else f"{share:.1%}".rstrip("%") for share in shares),
                f"{figures.mean_facts:.0f}",
                f"{figures.median_ms:.1f}",
                f"{figures.p95_ms:.1f}",
            )
        table.add_section()
    Console(width=120).print(table)


def show_misses(name: str, tally: Tally, kb: KnowledgeBase) -> None:
    """Print the questions that the engine missed, and what it linked instead."""
    print(f"\n{name}: {len(tally.misses)} missed")
    for question, found in tally.misses:
        wanted = [question.seed] if question.seed else []
        wanted += question.gold[:3]
        linked = "; ".join(f"{words} = {item} {kb.label(item)} ({score:.2f})" for item, score, words in found.items[:5])
        print(f"- {question.text}")
        print(f"  wanted {', '.join(f'{w} {kb.label(w)}' for w in wanted)}")
        print(f"  linked {linked or 'nothing'}; {len(found.facts)} facts")


def run(folder: Path, kb: KnowledgeBase, with_misses: bool) -> None:
    """Measure, print and write."""
    systems: dict[str, Callable[[str], Found]] = {
        ENGINE: engine_search(kb),
        BASELINE: Baseline(kb, dump_of(folder)).search,
    }
    for search in systems.values():  # what the first question loads is bench kb's to measure
        search("Who directed Titanic?")
    sets = convquestions(folder) | other_sets(folder, kb)
    tallies = {name: measure(questions, systems) for name, questions in sets.items()}
    results = {name: {system: t.figures() for system, t in found.items()} for name, found in tallies.items()}
    counts = {name: len(questions) for name, questions in sets.items()}
    show(results, counts)
    if with_misses:
        for name, found in tallies.items():
            show_misses(name, found[ENGINE], kb)
    failed = failed_bounds(results)
    print("all bounds kept" if not failed else "\n".join(failed))
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    written = {
        name: {"questions": counts[name], **{system: asdict(figures) for system, figures in found.items()}}
        for name, found in results.items()
    }
    OUTPUT.write_text(json.dumps({"build_id": kb.build_id, "sets": written, "failed_bounds": failed}, indent=2) + "\n")
    print(OUTPUT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kb", type=Path, help="an index of wikidata-27k; default: build one in a temporary folder")
    parser.add_argument("--misses", action="store_true", help="print the missed questions with what was linked")
    options = parser.parse_args()
    folder = data_folder()
    with tempfile.TemporaryDirectory() as name:
        path = options.kb
        if path is None:
            path = Path(name) / "kb"
            print("building the index of wikidata-27k ...", file=sys.stderr)
            build(dump_of(folder), path)
        kb = KnowledgeBase(path)
        try:
            run(folder, kb, options.misses)
        finally:
            kb.close()


if __name__ == "__main__":
    main()
