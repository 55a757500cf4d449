"""The tables of a report as LaTeX files for a paper; they need the package booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from .content import ReportTable

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "<": "$<$", ">": "$>$", "|": "$|$",
            **{character: f"\\{character}" for character in "&%$#_{}"}}  # fmt: skip


def escape(text: str) -> str:
    """A text as LaTeX shows it."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def latex_table(table: ReportTable) -> str:
    """A table with its caption and label, for `\\input`."""
    left = "".join("l" if place == 0 or name in ("run", "measure") else "r" for place, name in enumerate(table.columns))
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \begin{{tabular}}{{{left}}}",
        r"    \toprule",
        f"    {_row(table.columns)}",
        r"    \midrule",
        *(f"    {_row(row)}" for row in table.rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        rf"  \caption{{{escape(' '.join(filter(None, [table.title + '.', table.note])))}}}",
        rf"  \label{{tab:{table.name}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"{' & '.join(map(escape, cells))} \\\\"
