"""A report as one HTML file: no script, nothing from elsewhere, every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from ..support.errors import missing_extra
from ..support.version import __version__
from .comparison import differing
from .content import letters, tables
from .pictures import calibration_picture, presence_picture
from .reported_run import ReportedRun

MOST_SHOWN = 200  # questions of a kind of difference between two runs


def page(runs: Sequence[ReportedRun], title: str) -> str:
    """Return the report of runs over the same questions; it needs the extra `ir`, and has pictures with `plots`."""
    try:
        from jinja2 import Environment, PackageLoader
    except ModuleNotFoundError as error:
        raise missing_extra(f"report needs Jinja2 ({error.name} is missing)", "ir") from error
    template = Environment(loader=PackageLoader("convinse.reports", "."), autoescape=True).get_template(
        "report.html.j2"
    )
    names, first = letters(runs), runs[0]
    pictures = {}
    if find_spec("matplotlib") is not None:
        pictures = {
            "presence": (presence_picture(names, runs), "Answer presence by the number of evidences"),
            "calibration": (calibration_picture(names, runs), "Share of right answers by their probability"),
        }
    different = []
    for letter, run in zip(names[1:], runs[1:], strict=True):
        kinds = zip((f"Right in {letter} only", "Right in A only"), differing(first, run), strict=True)
        pairs = [(kind, [(name, first.turns[name], run.turns[name]) for name in ids]) for kind, ids in kinds]
        different.append({"letter": letter, "kinds": pairs})
    return template.render(
        title=title, version=__version__, most=MOST_SHOWN, tables=tables(runs), pictures=pictures, differing=different
    )
