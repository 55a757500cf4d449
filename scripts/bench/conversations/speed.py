"""How long the pipeline takes for many turns, cold and from a warm cache, and where the time goes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from convinse.evidence_retrieval_scoring.native import NativeERS
from convinse.pipeline import Pipeline
from convinse.records.conversation import Conversation
from convinse.records.evidence import DEFAULT_SOURCES

from ..harness import Bench, Figures, apart
from .quality import load
from .turns import more_questions

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


def measure(name: str, overrides: dict[str, str], conversations: Sequence[Conversation], cache: Path) -> Figures:
    """Seconds of each stage with a cold cache, then with the warm one.

    Every run is a process of its own: what the stages keep in memory is no cache that the next command has.
    """
    settings = {**overrides, "ers_cache_path": str(cache)}
    return {kind: apart(timed_run, name, settings, list(conversations)).result for kind in CACHES}


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


def speed_part(bench: Bench) -> Figures:
    """The most seconds are for as many turns as were measured."""
    work = bench.state
    asked = gather(work.conversations, bench.folder, bench.options.turns or bench.size.turns)
    runs = measure(work.config, work.overrides, asked, bench.work / "speed")
    rows = []
    for kind, timed in runs.items():
        seconds = timed["seconds"]
        stages = [seconds[stage] for stage in STAGES]
        values = (*stages, seconds["total"] - sum(stages), seconds["total"], timed["cpu"])
        rows.append((kind, *(f"{value:.1f}" for value in values)))
        most = CACHES[kind] * timed["turns"] / FULL
        bench.want(f"{kind} cache: seconds", seconds["total"], most, at_least=False)
    cold = runs["cold"]
    title = f"seconds for {cold['turns']} turns, {cold['representations']} different representations"
    bench.show(title, ("cache", *STAGES, "rest", "total", "CPU"), rows)
    return runs
