"""The lifetimes of items by their dates, which tell who may have been the king of a country in 1900."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ..records.literals import is_date, is_item
from ..records.periods import ALL_TIME, Period
from .items import Items

# the numbers of properties: date of birth, inception, start time; date of death, dissolved, end time; publication, point in time
_STARTS, _ENDS, _POINTS = (569, 571, 580), (570, 576, 582), (577, 585)


class Lifetimes:
    """The lifetimes of the items of a knowledge base."""

    def __init__(self, kb: Items) -> None:
        self._kb = kb
        self.of = lru_cache(maxsize=100_000)(self._read)

    def _read(self, entity_id: str) -> Period | None:
        if not is_item(entity_id):
            return None
        literals = self._kb.literals(entity_id, (*_STARTS, *_ENDS, *_POINTS))

        def periods(properties: Iterable[int]) -> list[Period]:
            dates = (entity for prop in properties for entity in literals[prop] if is_date(entity["id"]))
            return [Period.of_date(entity) for entity in dates]

        starts, ends, points = periods(_STARTS), periods(_ENDS), periods(_POINTS)
        if starts or ends:
            whole = ALL_TIME
            return Period(min(starts, default=whole).first, max((end.last for end in ends), default=whole.last))
        return min(points, default=None)

    def common(self, items: Iterable[str]) -> Period | None:
        """Return the time in which all the items with dates exist, or the shortest lifetime if they never do."""
        periods = [period for item in items if (period := self.of(item)) is not None]
        if not periods:
            return None
        common = Period(max(period.first for period in periods), min(period.last for period in periods))
        return common if common.first <= common.last else min(periods, key=lambda period: period.last - period.first)
