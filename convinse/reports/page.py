"""A report as one HTML file: no script, nothing from elsewhere, every text escaped."""

from __future__ import annotations

from collections.abc import Sequence

from ..support.errors import missing_extra
from ..version import __version__
from .comparison import differing
from .content import letters, tables
from .pictures import calibration_picture, can_draw, presence_picture
from .reported_run import ReportedRun

MOST_SHOWN = 200  # questions of a kind of difference between two runs


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
    names, first = letters(runs), runs[0]
    pictures = {}
    if can_draw():
        pictures = {
            "presence": {"svg": presence_picture(names, runs), "text": "Answer presence by the number of evidences"},
            "calibration": {
                "svg": calibration_picture(names, runs),
                "text": "Share of right answers by their probability",
            },
        }
    different = []
    for letter, run in list(zip(names, runs, strict=True))[1:]:
        kinds = zip((f"Right in {letter} only", "Right in A only"), differing(first, run), strict=True)
        pairs = [(kind, [(name, first.turns[name], run.turns[name]) for name in ids]) for kind, ids in kinds]
        different.append({"letter": letter, "kinds": pairs})
    return template.render(
        title=title, version=__version__, most=MOST_SHOWN, tables=tables(runs), pictures=pictures, differing=different
    )
