"""Tables on standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .output import printable

if TYPE_CHECKING:
    from rich.console import Console

_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")  # what a terminal would obey


def console() -> Console:
    """Return the console of tables; 100 columns wide unless it is a terminal. Text is printed without markup."""
    from rich.console import Console

    if not sys.stdout.isatty():
        return Console(width=100, highlight=False, markup=False, emoji=False)
    stream = getattr(sys.stdout, "stream", sys.stdout)  # the terminal itself: styles are control characters
    return Console(file=stream, highlight=False, markup=False, emoji=False)


def say(text: str, style: str = "", indent: int = 0, grey: str = "") -> None:
    """Print a line; on a terminal in a style, with `grey` in grey and its continuation indented."""
    text = text.translate(_CONTROLS)
    if not sys.stdout.isatty():
        print(f"{' ' * indent}{text}")
        return
    from rich.text import Text

    screen, line = console(), Text(text, style)
    if grey:
        line.highlight_words([grey], "not bold bright_black")
    for number, part in enumerate(line.wrap(screen, max(screen.width - indent - 2, 1))):
        screen.print(Text(" " * (indent + (2 if number else 0))), part, sep="")


def print_pairs(title: str | None, pairs: Mapping[str, str]) -> None:
    """Print a table without a header: names, and their values to the right."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, value in pairs.items():
        table.add_row(printable(name), printable(value))
    console().print(table)


def print_rows(title: str | None, columns: Sequence[str], rows: Iterable[Sequence[str] | None]) -> None:
    """Print a table of rows, the first column to the left and the others to the right; None draws a line."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for place, name in enumerate(columns):
        table.add_column(name, justify="right" if place else "left")
    for row in rows:
        if row is None:
            table.add_section()
        else:
            table.add_row(*map(printable, row))
    console().print(table)
