"""Questions over folders of files: pages, the project's own docs, two collections of READMEs and a table.

    bash run.sh bench documents
    bash run.sh bench documents --parts questions --show

The questions, and the files that they are asked of, are those of tests/files. Thresholds may be chosen on the part `choose`; nothing is chosen
on `judge` and `fresh`. "citation": of the right answers, those whose first evidence is of a file that has it. "abstains": of the questions that
the files do not answer.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import yaml
from selectolax.lexbor import LexborHTMLParser

from convinse.cli.documents import update_index
from convinse.config import load_config
from convinse.documents.index import DocumentIndex, settings_over
from convinse.encoder.bi_encoder import BiEncoder
from convinse.pipeline import Pipeline
from convinse.records.conversation import Turn
from convinse.records.evidence import Evidence
from convinse.scoring.extractive import normalize
from convinse.wikipedia.stored_vectors import StoredVectors

from .harness import Bench, Figures, Spec, run
from .timing import timed

_ROOT = Path(__file__).parents[2]
_FILES = _ROOT / "tests" / "files"
_PARTS = ("choose", "judge", "fresh")
_MODEL = "snapshot:model"
_SEED = 5
_NEAREST, _MILLION = 50, 1_000_000
_COLUMNS = {
    "answerable": ("answerable", "{}"), "P@1": ("p_at_1", "{:.3f}"), "citation": ("citation", "{:.3f}"),
    "unanswerable": ("unanswerable", "{}"), "abstains": ("abstains", "{:.3f}"), "abstains though answerable": ("abstains_wrongly", "{:.3f}"),
}  # fmt: skip


class _Answered(NamedTuple):
    asked: dict[str, Any]  # a line of questions.jsonl
    turn: Turn

    @property
    def is_right(self) -> bool:
        answers = self.turn["pred_answers"]
        accepted = {normalize(answer) for answer in self.asked["answers"]}
        return bool(answers) and normalize(answers[0]["answer"]["label"]) in accepted

    @property
    def is_cited(self) -> bool:
        place = next(iter(self.turn["pred_answers"][0].get("evidences", ())), None)
        file = "" if place is None else self.turn["top_evidences"][place]["citation"]["file"]
        return file.rpartition("/")[2] in self.asked["file"]


def collections() -> dict[str, list[Path]]:
    """The paths of each collection."""
    named = yaml.safe_load((_FILES / "collections.yml").read_text(encoding="utf-8"))
    return {name: [_ROOT / path for path in paths] for name, paths in named.items()}


def conversations() -> Iterator[list[dict[str, Any]]]:
    """The questions, each with those that were asked before it."""
    lines = [json.loads(line) for line in (_FILES.with_suffix(".jsonl")).read_text(encoding="utf-8").splitlines()]
    by_id = {line["id"]: line for line in lines}
    followed = {line["after"] for line in lines if "after" in line}
    for own in lines:
        if own["id"] not in followed:
            yield [by_id[own["after"]], own] if "after" in own else [own]


def questions(bench: Bench) -> Figures:
    """Ask all questions, each collection by itself."""
    answered: defaultdict[str, list[_Answered]] = defaultdict(list)
    asked = list(conversations())
    for name, paths in collections().items():
        folder = bench.kept / name
        update_index(folder, paths, _MODEL, quiet=True)
        config = load_config("config.yml", **settings_over(folder), ers_use_cache=False)
        with Pipeline(config) as pipeline:
            for conversation in asked:
                if conversation[0]["collection"] == name:
                    turns = pipeline.ask([own["question"] for own in conversation])["questions"]
                    answered[name] += map(_Answered, conversation, turns)
    if bench.options.show:
        _show([own for all_own in answered.values() for own in all_own])
    groups: dict[str, list[_Answered]] = dict(answered)
    every = [own for all_own in answered.values() for own in all_own]
    groups |= {part: [own for own in every if own.asked["part"] == part] for part in _PARTS} | {"together": every}
    rows = {name: _measured(own) for name, own in groups.items()}
    bench.compare("questions over files", ("set",), _COLUMNS, {(): rows})
    return rows


def _measured(answered: Sequence[_Answered]) -> Figures:
    answerable = [own for own in answered if own.asked["answers"]]
    unanswerable = [own for own in answered if not own.asked["answers"]]
    right = [own for own in answerable if own.is_right]
    return {
        "answerable": len(answerable),
        "p_at_1": len(right) / max(1, len(answerable)),
        "citation": sum(own.is_cited for own in right) / max(1, len(right)),
        "unanswerable": len(unanswerable),
        "abstains": sum("abstained" in own.turn for own in unanswerable) / max(1, len(unanswerable)),
        "abstains_wrongly": sum("abstained" in own.turn for own in right) / max(1, len(right)),
    }


# -- time ---------------------------------------------------------------------------------------------------------------


def times(bench: Bench) -> Figures:
    """Seconds of commands, each a process of its own: a mixed folder, and thousands of small files, new and changed."""
    mixed, many = bench.work / "mixed", bench.work / "many"
    number = _copy_mixed(mixed)
    texts = _write_small(many, bench.size)
    question, index = (
        "Who directed Blade Runner?",
        ["index", str(many), "--output", str(bench.work / "index"), "--quiet"],
    )
    asking = ["ask", "--over", str(mixed), "--quiet", question]
    rows: dict[str, Figures] = {}

    def measure(name: str, files: int, *arguments: str) -> None:
        rows[name] = {"files": files, "seconds": _seconds(bench, *arguments)}

    measure("ask --over, the first time", number, *asking)
    measure("ask --over, again", number, *asking)
    measure("index, new", bench.size, *index)
    measure("index, nothing changed", bench.size, *index)
    (many / "7.txt").write_text(texts[0] + " Changed.", encoding="utf-8")
    measure("index, one file changed", bench.size, *index)
    measure("ask --over the index", bench.size, "ask", "--over", str(bench.work / "index"), "--quiet", question)
    bench.compare(
        "seconds of a command", ("command",), {"files": ("files", "{:,}"), "seconds": ("seconds", "{:.2f}")}, {(): rows}
    )
    return rows


def _seconds(bench: Bench, *arguments: str) -> float:
    environment = {**os.environ, "XDG_CACHE_HOME": str(bench.work / "cache"), "PYTHONPATH": str(_ROOT)}
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "convinse", *arguments],
        env=environment,
        cwd=bench.work,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def _copy_mixed(folder: Path) -> int:
    """Copy pages, docs, READMEs and tables; the first pages as text, too. Returns the number of files."""
    pages = sorted((_ROOT / "scripts" / "recipes" / "snapshot" / "pages").glob("*.html"))
    others = [*(_ROOT / "docs").glob("*.md"), *_FILES.glob("*/*.*"), _FILES / "us_presidents.csv"]
    folder.mkdir()
    for path in (*pages, *others):
        shutil.copy(path, folder / f"{path.parent.name}-{path.name}")
    for path in pages[: 200 - len(pages) - len(others)]:
        (folder / f"{path.stem}.txt").write_text(
            LexborHTMLParser(path.read_text(encoding="utf-8")).text(separator="\n\n"), encoding="utf-8"
        )
    return sum(1 for _ in folder.iterdir())


def _write_small(folder: Path, number: int) -> list[str]:
    """Write files of 2 kB, each another stretch of the words of the pages."""
    pages = (_ROOT / "scripts" / "recipes" / "snapshot" / "pages").glob("*.html")
    words = " ".join(
        LexborHTMLParser(path.read_text(encoding="utf-8")).text(separator=" ") for path in sorted(pages)
    ).split()
    chance = random.Random(_SEED)
    folder.mkdir()
    texts = []
    for place in range(number):
        start = chance.randrange(len(words) - 500)
        texts.append(" ".join(words[start : start + 500])[:2000])
        (folder / f"{place}.txt").write_text(texts[-1], encoding="utf-8")
    return texts


# -- search by vectors -------------------------------------------------------------------------------------------------


def dense(bench: Bench) -> Figures:
    """Search by vectors beside usearch: the share of the exact 50 nearest that is found, and the time; also of a million vectors, the same again and again."""
    folder, many = bench.work / "dense", bench.work / "of-dense"
    _write_small(many, bench.size // 5)
    update_index(folder, [many], _MODEL, quiet=True)
    with closing(DocumentIndex(folder)) as index:
        stored = index.stored_vectors
    encoder = BiEncoder(_MODEL)
    kept = [json.loads(line) for line in _FILES.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]
    asked = encoder.embed([own["question"] for own in kept])
    texts = (evidence["evidence_text"] for evidence in _evidences(folder))
    vectors = encoder.embed(list(texts))
    exact = [np.argsort(-(vectors @ question))[:_NEAREST] for question in asked]
    rows: dict[str, Figures] = {}

    def measure(name: str, search: Callable[[np.ndarray], np.ndarray], **more: float) -> None:
        taken, nearest = zip(*(timed(partial(search, question)) for question in asked), strict=True)
        shares = [len(np.intersect1d(*pair)) / _NEAREST for pair in zip(nearest, exact, strict=True)]
        rows[name] = {"recall": sum(shares) / len(shares), "ms": 1000 * median(taken), **more}

    times = -(-_MILLION // len(vectors))
    large = StoredVectors(*(np.tile(own, (times, 1) if own.ndim > 1 else times)[:_MILLION] for own in stored))
    seconds = [timed(partial(large.nearest, question, _NEAREST))[0] for question in asked[:9]]
    measure("exact, 32 bits", lambda question: np.argpartition(-(vectors @ question), _NEAREST)[:_NEAREST])
    place_of = {int(row): place for place, row in enumerate(stored.rows)}
    measure(
        "convinse: all, 8 bits",
        lambda question: np.array([place_of[int(row)] for row in stored.nearest(question, _NEAREST)]),
        large=1000 * median(seconds),
    )
    if bench.has("usearch"):
        from usearch.index import Index

        peer = Index(ndim=vectors.shape[1], metric="ip", dtype="i8")
        building, _ = timed(lambda: peer.add(np.arange(len(vectors)), vectors))
        measure("usearch (HNSW, 8 bits)", lambda question: peer.search(question, _NEAREST).keys, build=building)
    columns = {
        "recall@50": ("recall", "{:.3f}"), "ms a question": ("ms", "{:.2f}"), "ms, of 1,000,000": ("large", "{:.0f}"), "seconds to build": ("build", "{:.1f}"),
    }  # fmt: skip
    bench.compare(
        f"the 50 nearest of {len(vectors):,} passages, {len(asked)} questions", ("system",), columns, {(): rows}
    )
    return rows


def _evidences(folder: Path) -> Iterator[Evidence]:
    """The evidences of an index, in the order of its vectors."""
    with closing(DocumentIndex(folder)) as index:
        for item in sorted(index.items(), key=lambda own: int(own[1:])):
            yield from index.get(item) or ()


def _show(answered: Sequence[_Answered]) -> None:
    for own in answered:
        answers = own.turn["pred_answers"]
        best = f"{answers[0]['answer']['label']} ({answers[0]['score']:.2f})" if answers else "-"
        mark = "right" if own.is_right else "wrong" if own.asked["answers"] else "none"
        print(
            f"{own.asked['id']:12} {mark:6} {'abstains' if 'abstained' in own.turn else '':9} {own.asked['question']}"
        )
        print(f"{'':20} {best} | {own.asked['answers']} | {own.turn.get('resolved_question')}")
        held = [
            place
            for place, evidence in enumerate(own.turn["top_evidences"])
            if any(one in evidence["evidence_text"] for one in own.asked["answers"])
        ]
        print(
            f"{'':20} held at {held[:5]} of {len(own.turn['top_evidences'])}; about {[e['label'] for e in own.turn['representation']['entities']]}"
        )
        for place in (answers[0].get("evidences", ()) if answers else ())[:1]:
            print(f"{'':20} {own.turn['top_evidences'][place]['evidence_text'][:200]}")


SPEC = Spec(
    "documents",
    __doc__,
    {"questions": questions, "times": times, "dense": dense},
    sizes=(200, 10_000, 50_000),
    options={"--show": {"action": "store_true", "help": "print the answers, too"}},
)

if __name__ == "__main__":
    run(SPEC)
