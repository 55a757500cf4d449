"""A server of models: requests with its key, which appears nowhere else."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from typing import Any, TypeVar

import msgspec

from ..config import ServerSettings
from ..support.errors import ConfigError, NetworkError, one_line
from ..support.web import WebSession

W = TypeVar("W")
R = TypeVar("R")


def in_flight(work: Sequence[W], call: Callable[[W], R], parallel: int, done: Callable[[int, R], None]) -> None:
    """Call a function for every piece of work in at most `parallel` threads, and `done` with places and results in this thread.

    After an error no further call begins; the results of running calls, which were paid for, still go to `done`, then the
    error is raised. Ctrl-C does not wait: the threads are daemons, unlike those of `concurrent.futures`.
    """
    answered: SimpleQueue[tuple[int, Any] | None] = SimpleQueue()
    stopped = threading.Event()
    places = iter(range(len(work)))  # of all threads: each place is taken once

    def serve() -> None:
        while not stopped.is_set() and (place := next(places, None)) is not None:
            try:
                answered.put((place, call(work[place])))
            except BaseException as error:  # the caller raises it
                stopped.set()
                answered.put((place, error))
        answered.put(None)

    faults = []
    try:
        threads = min(parallel, len(work))
        for _ in range(threads):
            threading.Thread(target=serve, daemon=True).start()
        while threads:
            if (answer := answered.get()) is None:
                threads -= 1
            elif isinstance(answer[1], BaseException):
                faults.append(answer[1])
            else:
                done(*answer)
    finally:
        stopped.set()
    if faults:
        raise faults[0]


_ATTEMPTS = 6  # of a request; a busy server sends several away
_MAX_BYTES = 32 << 20  # of an answer: embeddings of a few hundred texts
_KEY_REFUSED = (401, 403)


class ModelServer:
    """A client of the server that the settings of a configuration key name; threads may share it.

    The key of the server is read from the environment. Answers, messages, logs and the cache do not have it, even if a server
    repeats it.
    """

    def __init__(self, key: str, settings: ServerSettings) -> None:
        self.key = key
        self._settings = settings
        self._web = WebSession(
            read_timeout=settings.timeout,
            deadline=settings.timeout,
            attempts=_ATTEMPTS,
            max_bytes=_MAX_BYTES,
            connections=settings.parallel,
            remedy=f"check {key}.base_url and {key}.model, and that the server runs",
        )

    @property
    def model(self) -> str:
        """Return the model's name. Raises `ConfigError` if the settings name no model."""
        if not self._settings.base_url or not self._settings.model:
            raise ConfigError(
                f"{self.key} needs base_url and model, such as {{base_url: http://localhost:8000/v1, model: NAME}}; see "
                "docs/language-models.md"
            )
        return self._settings.model

    def post(self, path: str, body: Mapping[str, Any], read: Callable[[Any], R]) -> R:
        """Send a request to a path below `base_url`; `read` parses the JSON value of the answer, or raises `ValueError`."""
        secret = self._key()
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        url = f"{(self._settings.base_url or '').rstrip('/')}/{path}"
        try:
            value = self._web.post_json(url, body, headers)
        except NetworkError as error:
            text = str(error).replace(secret, "[key]") if secret else str(error)
            if error.status in _KEY_REFUSED:
                variable = self._settings.api_key_env
                hint = (
                    f"is the key in {variable} right?" if variable else f"it may want a key, see {self.key}.api_key_env"
                )
                text = f"{text}; {hint}"
            raise NetworkError(text, error.status) from None
        if secret:
            value = msgspec.json.decode(msgspec.json.encode(value).replace(secret.encode(), b"[key]"))
        try:
            return read(value)
        except ValueError as error:
            raise NetworkError(f"{self.key}: the server's answer cannot be used: {one_line(error)}") from None

    def close(self) -> None:
        """Close the open connections."""
        self._web.close()

    def _key(self) -> str:
        name = self._settings.api_key_env
        secret = os.environ.get(name, "").strip() if name else ""
        if name and not secret:
            raise ConfigError(f"{self.key}.api_key_env: {name} is not set; export {name} with the key of the server")
        if not (secret.isascii() and secret.isprintable()) or " " in secret:
            raise ConfigError(f"{self.key}.api_key_env: the value of {name} is not a key: it has blanks or other signs")
        return secret
