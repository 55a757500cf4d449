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

from ..harness import Bench, Figures, apart, timed
from .quality import answers, load
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


def timed_run(name: str, overrides: dict[str, str], conversations: list[Conversation]) -> Figures:
    """Build the pipeline, answer all conversations, close the caches.

    Returns:
        Seconds of each stage and in `total` (the rest is loading, copying and the cache), `cpu` seconds of this
        process, `turns`, and how many of them have a `representation` of their own.
    """
    start, cpu = time.perf_counter(), time.process_time()
    retrieval = 0.0
    with Pipeline(load(name, overrides)) as pipeline:
        if isinstance(pipeline.ers, NativeERS):  # of another module retrieval counts as scoring
            retrieve = pipeline.ers.retrieve

            def clocked(*arguments: Any) -> Any:
                nonlocal retrieval
                seconds, result = timed(lambda: retrieve(*arguments))
                retrieval += seconds
                return result

            pipeline.ers.retrieve = clocked  # type: ignore[method-assign]
        answered = answers(pipeline, conversations, DEFAULT_SOURCES, True, lambda number: None)
        represented = [turn["structured_representation"] for own in answered for turn in own["questions"]]
    spent = pipeline.seconds
    values = (spent["qu"], retrieval, spent["ers"] - retrieval, spent["ha"])
    total = time.perf_counter() - start
    return {
        "turns": len(represented), "representations": len(set(represented)), **dict(zip(STAGES, values, strict=True)),
        "rest": total - sum(values), "total": total, "cpu": time.process_time() - cpu,
    }  # fmt: skip


def speed_part(bench: Bench) -> Figures:
    """Seconds of each stage with a cold cache, then with the warm one; the bounds are for as many turns as are asked.

    Every run is a process of its own: what the stages keep in memory is no cache that the next command has.
    """
    work = bench.state
    asked = gather(work.conversations, bench.folder, bench.size.turns)
    settings = {**work.overrides, "ers_cache_path": str(bench.work / "speed")}
    runs = {kind: apart(timed_run, work.config, settings, asked).result for kind in CACHES}
    for kind, figures in runs.items():
        most = CACHES[kind] * figures["turns"] / FULL
        bench.want(f"{kind} cache: seconds", figures["total"], most, at_least=False)
    title = f"seconds for {runs['cold']['turns']} turns, {runs['cold']['representations']} different representations"
    columns = {stage: (stage, "{:.1f}") for stage in (*STAGES, "rest", "total", "cpu")}
    bench.compare(title, ("cache",), columns, {(): runs})
    return runs
