"""A column of a table: its cells, the order of their values, and what these are."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ...language.property_names import PropertyLabel
from ...language.time_words import clock_times, day_of_year
from ...records.evidence import Cell
from ...records.literals import MONTHS
from ...records.periods import day_number, day_of
from ...records.ranked_rows import ColumnOrder, column_order, dates_in_one_order
from ...records.units import quantity_of
from ...records.written_values import FREE, UNKNOWN, day_in

# the names of weekdays and months, by what headers have for them: "Mon", "mar."
_WRITTEN_OUT = {
    form.casefold(): name
    for forms, names in ((calendar.day_abbr, calendar.day_name), (calendar.month_abbr, calendar.month_name))
    for short, name in zip(forms, names, strict=True)
    for form in (short, name)
    if form
}
_ANY_YEAR = 4  # of days without a year
_MIN_DISTINCT = 0.8  # share of the cells of a column that tell the rows apart, to name them
_MIN_CLOCKS = 0.8  # share of the cells of a column that are times of the day: others say "closed"
# "massage" of "Hot stone massage"; not "de" and "(chair)", which stand in names of people, too
_SMALL_WORD = re.compile(r"(?<![^\W_])[^\W\d_A-Z]{4,}(?![^()]*\))")
_DAY_BEFORE = re.compile(r"^\d{4}-\d\d-\d\d[T ](?=\d\d:\d\d)")  # of "2026-05-01T06:00"
_MAX_NAME_LENGTH = 40  # characters on average of the cells of a column that names the rows


def written_out(header: str) -> str:
    """Return the weekday or the month that a header is, in full; empty for another header."""
    return _WRITTEN_OUT.get(header.strip().rstrip(".").casefold(), "")


def days_written_out(text: str) -> str:
    """Return the weekday and the month of a text of nothing but days in full: "Wednesday April" of "Wed 15 Apr"; else an empty string."""
    names = [written_out(word.rstrip(",")) for word in text.split() if not any(map(str.isdigit, word))]
    return " ".join(names) if all(names) else ""


def _priced(cell: Cell | None) -> Cell | None:
    return {**cell, "text": "0"} if cell is not None and cell["text"].strip().lower() in FREE else cell


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table: its cell in each row, None if the row has no cell there."""

    header: str
    keywords: frozenset[str]
    cells: Sequence[Cell | None]
    sums: frozenset[int] = frozenset()  # places of rows that sum up others by their names

    @cached_property
    def order(self) -> ColumnOrder | None:
        """The order of its cells; None if their values have no order. "Free" is a price of 0."""
        if self._days_of_year is not None:
            return self._days_of_year
        is_priced = any(quantity_of(text) == "money" for text in (self.header, *self.texts))
        return column_order([_priced(cell) for cell in self.cells] if is_priced else self.cells)

    @cached_property
    def _days_of_year(self) -> ColumnOrder | None:
        """The order of days of which all lack the year; None for other cells."""
        days: list[float | None] = []
        for row, cell in enumerate(self.cells):
            day = None if cell is None or self.is_empty(row) else day_of_year(cell["text"])
            days.append(float(day_number(_ANY_YEAR, *day)) if day else None)
        is_whole = len({*days} - {None}) > 1 and days.count(None) == sum(map(self.is_empty, range(len(days))))
        return ColumnOrder(days, are_dates=True, unit="date") if is_whole else None

    @property
    def lacks_years(self) -> bool:
        """True if its cells are days without a year: "15 April"."""
        return self._days_of_year is not None

    @cached_property
    def dates(self) -> list[str | None]:
        """The texts of its cells, dates with slashes in one order."""
        return dates_in_one_order(self.cells)

    @property
    def is_counter(self) -> bool:
        """True if its values count the rows: 1, 2, 3."""
        amounts = [amount for amount in self.amounts if amount is not None]
        return self.is_numbering and amounts[-1] - amounts[0] < 2 * len(amounts)

    @cached_property
    def texts(self) -> list[str]:
        """The texts of its cells, without those that rows lack."""
        return [cell["text"] for cell in self.cells if cell is not None]

    @property
    def is_of_weekday(self) -> bool:
        """True if its header is a day of the week, as in a rota or a timetable."""
        return written_out(self.header) in calendar.day_name

    @property
    def is_of_month(self) -> bool:
        """True if its header is a month."""
        return written_out(self.header) in MONTHS

    @cached_property
    def has_gaps(self) -> bool:
        """True if some of its cells are empty and others are not, beside those of sums."""
        return len({self.is_empty(row) for row in range(len(self.cells)) if row not in self.sums}) > 1

    def is_empty(self, row: int) -> bool:
        """Return True if its cell in a row is missing, or says that its value is unknown."""
        cell = self.cells[row]
        return cell is None or cell["text"].strip().lower() in UNKNOWN

    @property
    def tells_apart(self) -> bool:
        """True if its cells are short and nearly all different."""
        texts = self.texts
        return sum(map(len, texts)) <= _MAX_NAME_LENGTH * len(texts) and len({*texts}) >= _MIN_DISTINCT * len(texts)

    @property
    def may_be_people(self) -> bool:
        """True if its cells are as `is_capitalised` says, and most have no longer word in lower case."""
        texts = self.filled
        return self.is_capitalised and sum(_SMALL_WORD.search(text) is not None for text in texts) < len(texts) / 2

    @property
    def is_capitalised(self) -> bool:
        """True if its filled cells begin with a capital and have no digit."""
        return all(text[:1].isupper() and not any(map(str.isdigit, text)) for text in self.filled)

    @cached_property
    def filled(self) -> list[str]:
        """The texts of its cells that are not empty."""
        return [cell["text"] for row, cell in enumerate(self.cells) if cell is not None and not self.is_empty(row)]

    @property
    def has_currency(self) -> bool:
        """True if its header or its first filled cell has the sign or the name of a currency."""
        return "money" in (quantity_of(self.header), quantity_of(next(filter(None, self.texts), "")))

    @property
    def label(self) -> PropertyLabel:
        """Its header as the name of a property."""
        return PropertyLabel(self.header)

    @property
    def amounts(self) -> Sequence[float | None]:
        """The amount in each row; empty if its cells have no order."""
        return [] if self.order is None else self.order.amounts

    def amount(self, row: int) -> float | None:
        """Return the amount in a row; None without one."""
        return None if self.order is None else self.order.amounts[row]

    def day(self, row: int) -> tuple[int, int, int] | None:
        """Return the year, month and day of a date in a row, of a month the day 0; None without one."""
        amount, cell = self.amount(row), self.cells[row]
        if amount is None or cell is None or self.order is None or not self.order.are_days:
            return None
        year, month, day = day_of(amount)
        written = day_in(cell["text"])
        return year, month, day if written is None or written.entity["label"][:1].isdigit() else 0

    @property
    def is_dated(self) -> bool:
        """True if its cells are dates or years."""
        return self.order is not None and self.order.are_dates

    @property
    def is_timed(self) -> bool:
        """True if its cells are times of the day, or minutes and seconds."""
        return self.order is not None and self.order.are_times

    @cached_property
    def clock(self) -> list[tuple[int, int] | None]:
        """The first and the last minute of the day of each cell; empty if its cells are no times of the day."""
        times = [None if cell is None else clock_times(_DAY_BEFORE.sub("", cell["text"])) for cell in self.cells]
        filled = sum(not self.is_empty(row) for row in range(len(self.cells)))
        return times if sum(time is not None for time in times) >= max(1, _MIN_CLOCKS * filled) else []

    @property
    def numbers_rows(self) -> bool:
        """True if its values are different whole numbers that grow from row to row, as those of invoices do."""
        digits = [text for text in self.texts if text.isdecimal()]
        return self.is_numbering and len({*digits}) == len(self.texts)

    @property
    def is_numbering(self) -> bool:
        """True if its values grow from row to row, as the numbers of seasons do."""
        amounts = [amount for amount in self.amounts if amount is not None]
        return amounts == sorted(amounts) and 2 * len(set(amounts)) > len(amounts)
