"""How long the pipeline takes for many turns, cold and from a warm cache, and where the time goes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.table import Table

from bench.rerank.measures import Bound
from convinse.evidence_retrieval_scoring.native import NativeERS
from convinse.pipeline import Pipeline
from convinse.records.evidence import DEFAULT_SOURCES, Conversation

from .data import more_questions
from .quality import load

STAGES = ("qu", "retrieval", "scoring", "answering")
CACHES = {"cold": 600.0, "warm": 60.0}  # cache -> most seconds for FULL turns
FULL = 1000


def gather(conversations: Sequence[Conversation], data: Path, turns: int) -> list[Conversation]:
    """Conversations of `turns` turns in all, no question of which is repeated: those given, then single questions."""
    found: list[Conversation] = []
    left = turns
    for conversation in conversations:
        questions = list(islice(conversation["questions"], left))
        if questions:
            found.append({**conversation, "questions": questions})
            left -= len(questions)
    return found + (more_questions(data, left) if left else [])


def measure(name: str, overrides: dict[str, str], conversations: Sequence[Conversation], cache: Path) -> dict[str, Any]:
    """Seconds of each stage with a cold cache, then with the warm one; every run is a process of its own.

    Args:
        name: of the configuration.
        overrides: keys that replace those of the file.
        conversations: what to answer from all sources, with gold history.
        cache: an empty folder.
    """
    settings = {**overrides, "ers_cache_path": str(cache)}
    found = {}
    for kind in CACHES:
        # a process of its own: what the stages keep in memory is no cache that the next command has
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            found[kind] = process.submit(timed_run, name, settings, list(conversations)).result()
    return found


def timed_run(name: str, overrides: dict[str, str], conversations: list[Conversation]) -> dict[str, Any]:
    """Build the pipeline, answer all conversations, close the caches.

    Returns:
        `seconds` of each stage and in `total` (the rest is loading, copying and the cache), `cpu` seconds of this
        process, `turns`, and how many of them have a `representation` of their own.
    """
    start, cpu = time.perf_counter(), time.process_time()
    retrieval = 0.0
    with Pipeline(load(name, overrides)) as pipeline:
        if isinstance(pipeline.ers, NativeERS):  # of another module retrieval counts as scoring
            retrieve = pipeline.ers.retrieve

            def clocked(*arguments: Any) -> Any:
                nonlocal retrieval
                begin = time.perf_counter()
                try:
                    return retrieve(*arguments)
                finally:
                    retrieval += time.perf_counter() - begin

            pipeline.ers.retrieve = clocked  # type: ignore[method-assign]
        step = pipeline.conversations_at_once
        represented = []
        for place in range(0, len(conversations), step):
            for conversation in pipeline.run(conversations[place : place + step], DEFAULT_SOURCES):
                represented += [turn["structured_representation"] for turn in conversation["questions"]]
    spent = pipeline.seconds
    values = (spent["qu"], retrieval, spent["ers"] - retrieval, spent["ha"])
    return {
        "turns": len(represented),
        "representations": len(set(represented)),
        "seconds": {
            **{stage: round(value, 3) for stage, value in zip(STAGES, values, strict=True)},
            "total": round(time.perf_counter() - start, 3),
        },
        "cpu": round(time.process_time() - cpu, 3),
    }


def bounds(found: dict[str, Any]) -> list[Bound]:
    """The most seconds, for as many turns as were measured."""
    return [
        Bound(f"{kind} cache: seconds", one["seconds"]["total"], CACHES[kind] * one["turns"] / FULL, False)
        for kind, one in found.items()
    ]


def table(found: dict[str, Any]) -> Table:
    """A row a cache, a column a stage."""
    cold = found["cold"]
    shown = Table(
        title=f"seconds for {cold['turns']} turns, {cold['representations']} different representations",
        title_justify="left",
    )
    shown.add_column("cache")
    for column in (*STAGES, "rest", "total", "CPU"):
        shown.add_column(column, justify="right")
    for kind, one in found.items():
        seconds = one["seconds"]
        stages = [seconds[stage] for stage in STAGES]
        values = (*stages, seconds["total"] - sum(stages), seconds["total"], one["cpu"])
        shown.add_row(kind, *(f"{value:.1f}" for value in values))
    return shown
