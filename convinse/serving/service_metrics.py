"""Figures of the service in the text format of Prometheus (version 0.0.4), written by hand: three kinds of lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from starlette.routing import BaseRoute, Match

from ..support.http_access import AsgiApp, Scope

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
_BOUNDS = (
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    60.0,
)  # seconds of a turn: up to the longest that is waited for


class ServiceMetrics:
    """Counts; belongs to one event loop. Labels are few and known, so that it stays small."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._turns: Counter[str] = Counter()
        self._within: Counter[float] = Counter()
        self._seconds = 0.0
        self._stages: dict[str, float] = {}
        self._batches = self._batched = 0
        self.dropped = 0  # conversations that made room for others

    def request(self, path: str, method: str, status: int) -> None:
        """Count a request that was answered; `path` is that of the route."""
        self._requests[path, method, status] += 1

    def counter(self, routes: Sequence[BaseRoute]) -> Callable[[Scope, int], None]:
        """A function that counts a request, from its scope and status, below the path of its route: `other` where it has none."""

        def count(scope: Scope, status: int) -> None:
            matching = (getattr(route, "path", "") for route in routes if route.matches(scope)[0] is not Match.NONE)
            method = scope["method"]
            self.request(next(matching, "other"), method if method in _METHODS else "other", status)

        return count

    def turn(self, outcome: str, seconds: float) -> None:
        """Count a turn: `answered`, `abstained`, `failed` or `given_up`, and how long its client waited."""
        self._turns[outcome] += 1
        self._seconds += seconds
        self._within.update(bound for bound in _BOUNDS if seconds <= bound)

    def batch(self, turns: int) -> None:
        """Count turns that are computed together."""
        self._batches += 1
        self._batched += turns

    def stages(self, seconds: Mapping[str, float]) -> None:
        """Note how long the stages have computed so far."""
        self._stages = dict(seconds)

    def text(self, *, conversations: int, waiting: int) -> str:
        """All figures; those of the moment are given."""
        turns = sum(self._turns.values())
        buckets: list[tuple[str, float]] = [(f'_bucket{{le="{bound:g}"}}', self._within[bound]) for bound in _BOUNDS]
        buckets += [('_bucket{le="+Inf"}', turns), ("_sum", self._seconds), ("_count", turns)]
        requests = [
            (f'{{path="{path}",method="{method}",status="{status}"}}', number)
            for (path, method, status), number in self._requests.items()
        ]
        outcomes = [(f'{{outcome="{outcome}"}}', number) for outcome, number in self._turns.items()]
        stages = [(f'{{stage="{stage}"}}', seconds) for stage, seconds in self._stages.items()]
        lines = [
            *_figure("requests_total", "counter", "Requests answered.", requests),
            *_figure("turns_total", "counter", "Turns by their outcome.", outcomes),
            *_figure("turn_seconds", "histogram", "Time that a client waited for a turn.", buckets),
            *_figure("stage_seconds_total", "counter", "Time that each stage computed.", stages),
            *_figure("batches_total", "counter", "Batches computed.", [("", self._batches)]),
            *_figure("batched_turns_total", "counter", "Turns in those batches.", [("", self._batched)]),
            *_figure("conversations", "gauge", "Conversations that are kept.", [("", conversations)]),
            *_figure("conversations_dropped_total", "counter", "Idle conversations dropped.", [("", self.dropped)]),
            *_figure("waiting", "gauge", "Turns that wait.", [("", waiting)]),
        ]
        return "\n".join([*lines, ""])


def _figure(name: str, kind: str, text: str, samples: Iterable[tuple[str, float]]) -> list[str]:
    name = f"convinse_{name}"
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}", *(f"{name}{tail} {value}" for tail, value in samples)]


def counting(app: AsgiApp, count: Callable[[Scope, int], None]) -> AsgiApp:
    """An application whose answers are counted as soon as they begin, whoever gives them."""

    async def counted(scope: Any, receive: Any, send: Any) -> None:
        async def noted(message: Any) -> None:
            if message["type"] == "http.response.start":
                count(scope, message["status"])
            await send(message)

        await app(scope, receive, noted)

    return counted
