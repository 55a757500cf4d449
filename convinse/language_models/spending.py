"""The cost of a run at servers of models, in requests, tokens and money."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from ..config import Config
from ..records.conversation import Conversation

_MILLION = 1_000_000
_DIGITS = 6  # of money
_STAGES: tuple[tuple[str, Literal["qu_tokens", "ha_tokens"]], ...] = (("qu_llm", "qu_tokens"), ("ha_llm", "ha_tokens"))


def spending(
    conversations: Iterable[Conversation], config: Config, requests: Mapping[str, Counter[str]]
) -> dict[str, dict[str, Any]]:
    """Return the cost of finished conversations by the key of each server.

    `prompt_tokens`, `completion_tokens` and, with prices, `money` are of all turns, cached answers of an earlier run included;
    `requests`, `kept` and `unreadable` are of this run, see `Resources.requests`.
    """
    turns = [turn for conversation in conversations for turn in conversation["questions"]]
    spent: dict[str, dict[str, Any]] = {}
    for key, where in _STAGES:
        tokens = [turn[where] for turn in turns if where in turn]
        if not tokens:
            continue
        prompt, completion = (sum(count[part] for count in tokens) for part in ("prompt", "completion"))
        spent[key] = {"prompt_tokens": prompt, "completion_tokens": completion}
        if (prices := config[key].prices) is not None:
            money = prompt * prices.input + completion * prices.output
            spent[key]["money"] = round(money / _MILLION, _DIGITS)
    for key, counts in requests.items():
        if counts.total():
            spent.setdefault(key, {}).update({name: counts[name] for name in ("requests", "kept", "unreadable")})
    return spent
