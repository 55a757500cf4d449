"""The tasks of `bench speed`, each a process of its own: `python speed_tasks.py TASK INPUTS` prints its seconds.

Run with the package of any version before it in the path, so they use public names alone, and nothing of the benches.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from convinse import BertReranker, ExtractiveReader, Pipeline, load_config

_MODEL = str(Path(sys.modules["convinse"].__file__ or "").parent / "snapshot" / "reader")


def rerank(inputs: dict[str, Any]) -> Callable[[], object]:
    reranker = BertReranker(_MODEL, "cpu")
    return lambda: reranker.predict([(inputs["questions"][0], text) for text in inputs["texts"]])


def read(inputs: dict[str, Any]) -> Callable[[], object]:
    reader = ExtractiveReader(_MODEL, "cpu")
    return lambda: reader.read(inputs["questions"][0], inputs["texts"], top_k=5)


def turn(inputs: dict[str, Any]) -> Callable[[], object]:
    pipeline = Pipeline(load_config("config.yml", ers_use_cache=False))

    def ask() -> None:
        session = pipeline.session()
        for question in inputs["questions"]:
            session.ask(question)

    return ask


if __name__ == "__main__":
    task = {"rerank": rerank, "read": read, "turn": turn}[sys.argv[1]]
    inputs = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    call = task(inputs["warm"])  # other texts: those that are measured are to be new
    call()
    measured = task(inputs)
    start = time.perf_counter()
    measured()
    print(time.perf_counter() - start)
