"""The requests of the CLOCQ API: their shapes, their parameters, the defaults of what they leave out."""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec

from ..config import ClocqParams
from ..support.http_work import RefusedError

_MAX_QUESTION = 10_000  # characters
_MAX_FACTS = 1_000_000
_P = 1000  # CLOCQ's default
_NUMBER = re.compile(r"[0-9]{1,9}")


class ItemRequest(msgspec.Struct):
    """A request about an item, a property or a literal."""

    item: str | None = None


class PairRequest(msgspec.Struct):
    """A request about two of them."""

    item1: str | None = None
    item2: str | None = None


class NeighborhoodRequest(msgspec.Struct):
    """A request for facts."""

    item: str | None = None
    p: int | str | bool | None = None
    include_labels: bool | None = None
    include_type: bool | None = None

    @property
    def pruned_at(self) -> int:
        """`p` as a number. Raises `RefusedError` where it is none."""
        return _P if self.p is None else _limit(self.p, "p")


class QuestionRequest(msgspec.Struct):
    """A request about a question. What stands in `parameters` counts more than what stands beside it."""

    question: Annotated[str, msgspec.Meta(max_length=_MAX_QUESTION)]
    parameters: dict[str, Any] | None = None
    k: int | str | None = None
    p: int | str | bool | None = None
    p_setting: int | str | bool | None = None
    top_ranked: bool | None = None
    include_labels: bool | None = None
    include_type: bool | None = None

    @property
    def params(self) -> ClocqParams:
        """The parameters with the defaults of what is left out; `p` is another name of `p_setting`. Raises `RefusedError`."""
        values = {key: value for key, value in (self.parameters or {}).items() if value is not None}
        k = values.pop("k", self.k)
        inner = values.pop("p_setting", values.get("p"))
        values.pop("p", None)
        outer = self.p if self.p_setting is None else self.p_setting
        p = outer if inner is None else inner
        if k is not None:
            values["k"] = (
                int(k) if isinstance(k, str) and _NUMBER.fullmatch(k) else k.upper() if isinstance(k, str) else k
            )
        if p is not None:
            values["p_setting"] = _limit(p, "p")
        try:
            params = msgspec.convert(values, ClocqParams)
        except msgspec.ValidationError as error:
            text, _, place = str(error).partition(" - at `$.")
            raise RefusedError(f"parameters.{place.rstrip('`')}: {text}" if place else f"parameters: {text}") from None
        if params.bm25_limit is True:
            raise RefusedError("parameters.bm25_limit: give a number of facts, or false for no limit")
        return params


def _limit(p: Any, key: str) -> int:
    """A number of facts; 0 and false, as in CLOCQ, prune nothing, up to the server's own limit."""
    number = int(p) if isinstance(p, str) and _NUMBER.fullmatch(p) else p
    if number is False or number == 0:
        return _MAX_FACTS
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number <= _MAX_FACTS:
        raise RefusedError(
            f"{key}: {str(p)[:50]!r} is no number of facts; give one from 1 to {_MAX_FACTS}, or 0 for all"
        )
    return number
