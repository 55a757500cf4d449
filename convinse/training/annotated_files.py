"""Annotated conversations: the files that `annotate` writes and `train qu` learns from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..config import Config
from ..formats.conversations.benchmark import read_benchmark
from ..support.errors import DataError
from ..support.files import replacing
from ..support.progress import progress
from .distant_supervision import Annotator
from .silver import annotated_path

PARTS = ("train", "dev", "test")


class AnnotatedPart(NamedTuple):
    """A file of `annotate`, and how many of its turns had which outcome of `distant_supervision` (`turns`: all)."""

    path: Path
    counts: Counter[str]


def annotate(
    config: Config, sources: Sequence[str], parts: Sequence[str] = PARTS, quiet: bool = False
) -> list[AnnotatedPart]:
    """Annotate parts of the configured benchmark, one file each; an older one is replaced when the new one is complete.

    Raises:
        DataError: a part's file is missing (before any is annotated), or cannot be read as the benchmark.
        OutputError: a file cannot be written.
    """
    for part in parts:
        if not config.input_path(part).is_file():
            raise DataError(
                f"{config.input_path(part)}: no such file; check {part}_input_path and benchmark_path, or annotate "
                "another part by --part"
            )
    annotator = Annotator(config, sources)
    done = []
    try:
        for part in parts:
            conversations, counts = read_benchmark(config.input_path(part), config.benchmark), Counter[str]()
            with progress(f"annotate {part}", len(conversations), "conversations", quiet) as advance:
                for conversation in conversations:
                    counts.update(annotator.annotate(conversation))
                    advance()
            path = annotated_path(config, part)
            with replacing(path) as temporary:
                temporary.write_bytes(msgspec.json.format(msgspec.json.encode(conversations), indent=1) + b"\n")
            done.append(AnnotatedPart(path, counts))
    finally:
        annotator.retriever.store_cache()
    return done
