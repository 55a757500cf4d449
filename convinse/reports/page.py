"""A report as one HTML file: no script, nothing from elsewhere, every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..support.errors import missing_extra
from ..version import __version__
from .comparison import differing
from .content import letters, tables
from .pictures import calibration_picture, can_draw, presence_picture
from .reported_run import ReportedRun, ReportedTurn

MOST_SHOWN = 200  # questions of a kind of difference between two runs


class _Picture(NamedTuple):
    svg: str
    text: str


class _Differing(NamedTuple):
    letter: str
    kinds: list[tuple[str, list[tuple[str, ReportedTurn, ReportedTurn]]]]  # question id, turns of both runs


def page(runs: Sequence[ReportedRun], title: str = "Runs of convinse") -> str:
    """Return the report of runs over the same questions.

    Raises:
        DependencyError: the extra `ir` is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader
    except ModuleNotFoundError as error:
        raise missing_extra(f"report needs Jinja2 ({error.name} is missing)", "ir") from error
    template = Environment(loader=PackageLoader("convinse.reports", "."), autoescape=True).get_template(
        "report.html.j2"
    )
    lettered = list(zip(letters(runs), runs, strict=True))
    values: dict[str, Any] = {
        "title": title, "version": __version__, "most": MOST_SHOWN, "tables": tables(runs), "pictures": _pictures(runs),
        "differing": [_differing(runs[0], run, letter) for letter, run in lettered[1:]],
    }  # fmt: skip
    return template.render(values)


def _pictures(runs: Sequence[ReportedRun]) -> dict[str, _Picture]:
    if not can_draw():
        return {}
    named = letters(runs)
    return {
        "presence": _Picture(presence_picture(named, runs), "Answer presence by the number of evidences"),
        "calibration": _Picture(calibration_picture(named, runs), "Share of right answers by their probability"),
    }


def _differing(first: ReportedRun, run: ReportedRun, letter: str) -> _Differing:
    kinds = zip((f"Right in {letter} only", "Right in A only"), differing(first, run), strict=True)
    return _Differing(
        letter, [(kind, [(name, first.turns[name], run.turns[name]) for name in names]) for kind, names in kinds]
    )
