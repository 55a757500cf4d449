"""A language model behind a server: prompts in, answers of a form out, cached."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from ..config import LanguageModelSettings
from ..support.cache import Cache
from ..support.errors import NetworkError, one_line
from .completion import Completion, read_completion
from .model_server import ModelServer, in_flight
from .prompts import Prompt

LOGGER = logging.getLogger(__name__)
T = TypeVar("T")

_PATH = "chat/completions"
_MAX_TOKENS = 512  # written, unless `extra` says otherwise
_FIELD_REFUSED = (400, 422, 501)  # status of servers that do not know a field


class ChatModel:
    """A client of a language model that sends several prompts at once.

    A request has the JSON schema of the answer (`json_schema`) and asks for the probabilities of tokens; after a refusal it is
    repeated without. Readable completions are cached by model, parameters and prompt.
    """

    def __init__(self, settings: LanguageModelSettings, server: ModelServer, cache: Cache, seed: int = 0) -> None:
        self._settings, self._server, self._cache, self._seed = settings, server, cache, seed
        # optional fields of a request, tried in this order until the server takes them
        self._offers: list[tuple[str, ...]] = [("logprobs", "response_format"), ("response_format",), ("logprobs",), ()]

    def ask(self, prompts: Sequence[Prompt], read: Callable[[str], T]) -> list[tuple[Completion, T | None]]:
        """Return the completions of prompts of a stage; prompts that the cache lacks are sent, `parallel` at once.

        Each comes with the answer that `read` parses from its text; None if it has another form (`ValueError`). After a `NetworkError` earlier replies stay in the cache.
        """
        replies: dict[int, tuple[Completion, T | None]] = {}
        keys = []
        for place, prompt in enumerate(prompts):
            # everything that the answer depends on, but neither address nor key of the server
            content = [self._body(prompt), prompt.name, prompt.schema]
            digest = hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()
            keys.append(("completion", self._server.model, digest))
            if (cached := self._cache.get(*keys[-1])) is not None:
                completion = msgspec.convert(cached, Completion)
                replies[place] = completion, read(completion.text)
        missing = [place for place in range(len(prompts)) if place not in replies]

        def done(number: int, completion: Completion) -> None:
            place = missing[number]
            try:
                if completion.is_cut:
                    raise ValueError("it was cut before its end; raise extra.max_tokens, or have the model think less")
                replies[place] = completion, read(completion.text)
            except ValueError as error:
                LOGGER.warning("%s: an answer of the model cannot be used: %s", self._server.key, one_line(error))
                replies[place] = completion, None
            else:
                self._cache.put(*keys[place], value=msgspec.to_builtins(completion))

        in_flight([prompts[place] for place in missing], self._sent, self._settings.parallel, done)
        return [replies[place] for place in range(len(prompts))]

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        settings = self._settings
        body: dict[str, Any] = {"temperature": 0.0, "max_tokens": _MAX_TOKENS, **settings.extra}
        if body["temperature"]:
            body.setdefault("seed", self._seed)
        body = {name: value for name, value in body.items() if value is not None}
        fixed = {"model": self._server.model, "messages": prompt.messages, "stream": False}
        return {**body, **fixed}

    def _sent(self, prompt: Prompt) -> Completion:
        form = {"name": prompt.name, "strict": True, "schema": prompt.schema}
        optional = {"logprobs": True, "response_format": {"type": "json_schema", "json_schema": form}}
        offers, refusal = self._offers, None
        for offer in offers:
            body = {**self._body(prompt), **{name: optional[name] for name in offer}}
            try:
                completion = self._server.post(_PATH, body, read_completion)
            except NetworkError as error:
                if error.status not in _FIELD_REFUSED:
                    raise
                refusal = refusal or error
                continue
            if refusal is not None:
                refused = " and no ".join(name for name in offers[0] if name not in offer)
                LOGGER.warning("%s: the server takes no %s (%s)", self._server.key, refused, one_line(refusal))
                self._offers = offers[offers.index(offer) :]
            return completion
        raise refusal or AssertionError("nothing was offered")
