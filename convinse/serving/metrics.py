"""The figures of the service for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
_BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # seconds, up to the longest turn


class ServiceMetrics:
    """The figures of one service; labels have few values, so that it stays small."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            "convinse_requests", "Requests answered.", ("path", "method", "status"), registry=registry
        )
        self._turns = Counter("convinse_turns", "Turns by their outcome.", ("outcome",), registry=registry)
        self._turn_seconds = Histogram(
            "convinse_turn_seconds", "Time that a client waited for a turn.", registry=registry, buckets=_BOUNDS
        )
        self._stages = Counter(
            "convinse_stage_seconds", "Time that each stage computed.", ("stage",), registry=registry
        )
        self._batches = Counter("convinse_batches", "Batches computed.", registry=registry)
        self._batched = Counter("convinse_batched_turns", "Turns in those batches.", registry=registry)
        self.dropped = Counter("convinse_conversations_dropped", "Idle conversations dropped.", registry=registry)
        Gauge("convinse_workers", "Batches that can be computed at the same time.", registry=registry).set(1)

    def add_gauge(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Show a value of the moment."""
        Gauge(f"convinse_{name}", text, registry=self._registry).set_function(value)

    def count_request(self, scope: Scope, status: int) -> None:
        """Count a request below the path of its route, `other` if it reached none."""
        path = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._requests.labels(path, method, status).inc()

    def count_turn(self, outcome: str, seconds: float) -> None:
        """Count a turn: `answered`, `abstained`, `failed` or `given_up`, and how long its client waited."""
        self._turns.labels(outcome).inc()
        self._turn_seconds.observe(seconds)

    def count_batch(self, turns: int, seconds: Mapping[str, float]) -> None:
        """Count turns that were computed together, and the time of each stage."""
        self._batches.inc()
        self._batched.inc(turns)
        for stage, value in seconds.items():
            self._stages.labels(stage).inc(value)

    def text(self) -> bytes:
        """Return all figures in the text format of Prometheus."""
        return generate_latest(self._registry)


class RequestCounter:
    """Middleware that counts answers as soon as they begin, also those of the guard."""

    def __init__(self, app: ASGIApp, metrics: ServiceMetrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request and count it."""

        async def send_counted(message: Message) -> Any:
            if message["type"] == "http.response.start":
                self._metrics.count_request(scope, message["status"])
            await send(message)

        await self._app(scope, receive, send_counted)
