"""Memory over a long time: requests to the servers, and turns of the pipeline, all different; it is flat after a warm-up."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from convinse import Pipeline, load_config
from convinse.formats.convmix import read_conversations

from ..harness import Bench, Figures, apart, held_memory
from .campaign import Trial, measured
from .served import running

_SAMPLES = 20  # looks at the memory


class _Amount(NamedTuple):
    """How much is done, and the share by which memory may grow in the second half of it; a short run is its own warm-up."""

    requests: int
    asked: int  # requests to the API
    turns: int
    growth: float


_AMOUNTS = (_Amount(60, 60, 10, 0.5), _Amount(4_000, 500, 300, 0.15), _Amount(20_000, 20_000, 5_000, 0.02))


Sampling: TypeAlias = Callable[[Trial, list[int]], str]  # adds the bytes it sees; what went wrong, in one line


def memory(bench: Bench) -> Figures:
    """The part `memory` of the campaign."""
    amount: _Amount = _AMOUNTS[bench.size]
    samplings: dict[str, Sampling] = {
        "kb serve": partial(_served, "kb", amount.requests),
        "serve reader": partial(_served, "reader", amount.requests),
        "serve api": partial(_served, "api", amount.asked),
        "pipeline": partial(_asked, amount.turns),
    }
    seen: dict[str, list[int]] = {name: [] for name in samplings}
    groups = {name: partial(_flat, sampling, seen[name], amount.growth) for name, sampling in samplings.items()}
    figures = measured(bench, "memory", groups, 1)
    rows = {name: in_halves(samples) for name, samples in seen.items() if samples}
    columns = {
        "after half, MB": ("half", "{:.0f}"),
        "most later, MB": ("most", "{:.0f}"),
        "growth": ("growth", "{:.1%}"),
    }
    bench.compare("memory over time", ("what",), columns, {(): rows})
    return {**figures, "megabytes": {name: [round(sample / 1e6, 1) for sample in seen[name]] for name in rows}}


def _flat(sampling: Sampling, samples: list[int], most: float, trial: Trial) -> str:
    """What went wrong, or by how much memory grew in the second half where that is more than `most`."""
    if wrong := sampling(trial, samples):
        return wrong
    half = in_halves(samples)
    told = f"from {half['half']:.0f} to {half['most']:.0f} MB"
    return "" if half["growth"] <= most else f"memory grew by {half['growth']:.1%} in the second half, {told}"


def in_halves(samples: list[int]) -> Figures:
    """Megabytes after half of the samples and at the most later, and the share by which that grew."""
    middle, last = samples[len(samples) // 2], max(samples[len(samples) // 2 :])
    return {"half": middle / 1e6, "most": last / 1e6, "growth": last / middle - 1}


def _served(kind: str, number: int, trial: Trial, samples: list[int]) -> str:
    requests, value = _REQUESTS[kind](trial.random), None
    with running(kind, trial.work) as server:
        for count in range(number):
            path, body = requests.send(value)
            status, value = server.ask(json.dumps(body).encode(), path)
            if status not in (200, 201):
                return f"status {status}: {value}"
            if count % max(1, number // _SAMPLES) == 0:
                samples.append(server.memory())
    return ""


def _asked(number: int, trial: Trial, samples: list[int]) -> str:
    samples.extend(apart(turns, number, trial.seed, trial.work).result)
    return ""


def turns(number: int, seed: int, work: str) -> list[int]:
    """Answer so many turns in this process; its memory now and then."""
    chance = random.Random(seed)
    samples = []
    with Pipeline(load_config("config.yml", ers_cache_path=str(Path(work) / "cache"))) as pipeline:
        for turn in range(number):
            if turn % 5 == 0:
                first = chance.choice(_conversations())[0]
                conversation = pipeline.turns([first, *(_question(chance) for _ in range(4))])
            next(conversation)
            if turn % max(1, number // _SAMPLES) == 0:
                samples.append(held_memory())
    return samples


def _conversations() -> list[list[str]]:
    """The questions of the embedded conversations to learn and to choose by."""
    if not _QUESTIONS:
        config = load_config("config.yml")
        for part in ("train", "dev"):
            for conversation in read_conversations(config.input_path(part)):
                _QUESTIONS.append([turn["question"] for turn in conversation["questions"]])
    return _QUESTIONS


_QUESTIONS: list[list[str]] = []  # read once


def _question(chance: random.Random) -> str:
    """A question of some conversation; the words of another one make it new."""
    question, added = (chance.choice(chance.choice(_conversations())) for _ in range(2))
    return f"{question.rstrip('?')} {' '.join(chance.sample(added.split(), min(2, len(added.split()))))}?"


Requests: TypeAlias = Generator[tuple[str, dict[str, Any]], Any, None]  # paths and bodies; it is sent the answers


def _questions(chance: random.Random) -> Requests:
    while True:
        yield "/search_space", {"question": _question(chance)}


def _contexts(chance: random.Random) -> Requests:
    while True:
        context = " ".join(_question(chance) for _ in range(chance.randint(1, 30)))
        yield "/", {"context": context, "qas": [{"qid": "1", "question": _question(chance)}]}


def _talks(chance: random.Random) -> Requests:
    """Conversations of one to three turns, and of each a chat of as many."""
    while True:
        begun = yield "/v1/conversations", {}
        messages: list[dict[str, str]] = []
        for _ in range(chance.randint(1, 3)):
            question = _question(chance)
            turn = yield f"/v1/conversations/{begun['id']}/turns", {"question": question}
            answers = [answer["answer"]["label"] for answer in turn["pred_answers"][:1]]
            messages.append({"role": "user", "content": question})
            messages.append({"role": "assistant", "content": "".join(answers)})
        yield "/v1/chat/completions", {"messages": messages[:-1]}


_REQUESTS: dict[str, Callable[[random.Random], Requests]] = {"kb": _questions, "reader": _contexts, "api": _talks}
