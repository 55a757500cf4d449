"""What a run asked of servers of models, in requests, tokens and money."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from ..config import Config
from ..records.conversation import Conversation, TokenCount, Turn

_MILLION = 1_000_000
_DIGITS = 6  # of money
_STAGES: tuple[tuple[str, Literal["qu_tokens", "ha_tokens"]], ...] = (("qu_llm", "qu_tokens"), ("ha_llm", "ha_tokens"))


def spending(
    conversations: Iterable[Conversation], config: Config, requests: Mapping[str, Counter[str]]
) -> dict[str, dict[str, Any]]:
    """By the key of each server that was asked or answered before: what its answers took.

    `prompt_tokens`, `completion_tokens` and, where there are prices, `money` are of all turns, also of those whose answers were
    kept from an earlier run; `requests`, `kept` and `unreadable` are of this run.

    Args:
        conversations: the finished ones.
        config: has the prices.
        requests: of this run, see `Resources.requests`.
    """
    turns = [turn for conversation in conversations for turn in conversation["questions"]]
    spent: dict[str, dict[str, Any]] = {}
    for key, where in _STAGES:
        tokens = _tokens(turns, where)
        if tokens is None:
            continue
        spent[key] = {"prompt_tokens": tokens["prompt"], "completion_tokens": tokens["completion"]}
        if (prices := config[key].prices) is not None:
            money = tokens["prompt"] * prices.input + tokens["completion"] * prices.output
            spent[key]["money"] = round(money / _MILLION, _DIGITS)
    for key, counts in requests.items():
        if counts.total():
            spent.setdefault(key, {}).update({name: counts[name] for name in ("requests", "kept", "unreadable")})
    return spent


def _tokens(turns: Iterable[Turn], where: Literal["qu_tokens", "ha_tokens"]) -> TokenCount | None:
    """The tokens of all turns; None where no turn has any."""
    counted = [turn[where] for turn in turns if where in turn]
    if not counted:
        return None
    return {"prompt": sum(own["prompt"] for own in counted), "completion": sum(own["completion"] for own in counted)}
