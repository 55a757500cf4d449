"""The pictures of a report, as SVG within its page. Runs are named by letters; matplotlib is optional, loaded on use.

Colours are those of Okabe and Ito, which colour-blind people can distinguish; runs differ by their marks, too.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from .comparison import calibration, presence
from .reported_run import ReportedRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")


def can_draw() -> bool:
    """Return True if matplotlib is installed."""
    return find_spec("matplotlib") is not None


def presence_picture(letters: Sequence[str], runs: Sequence[ReportedRun]) -> str:
    """Draw the share of questions with a gold answer among the first e evidences."""
    most = max((turn.num_evidences for run in runs for turn in run.turns.values()), default=1)
    places = list(range(1, max(2, most) + 1))

    def draw(axes: Axes) -> None:
        for number, (letter, run) in enumerate(zip(letters, runs, strict=True)):
            shares = presence(run.turns.values(), places)
            marked = [place - 1 for place in (1, 2, 5, 10, 20, 50, 100) if place <= len(places)]
            axes.plot(places, shares, label=letter, markevery=marked, **_style(number))
        ticks = [place for place in (1, 2, 5, 10, 20, 50, 100, 200, 500) if place <= places[-1]]
        axes.set_xscale("log")
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.set(xlabel="evidences (e)", ylabel="share of questions", ylim=(0.0, 1.0))

    return _svg("presence", draw)


def calibration_picture(letters: Sequence[str], runs: Sequence[ReportedRun]) -> str:
    """Draw the share of right answers by their probability; a calibrated run is on the diagonal."""

    def draw(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color="#888888", linewidth=1, linestyle="--")
        for number, (letter, run) in enumerate(zip(letters, runs, strict=True)):
            bins = calibration(run.turns.values())
            probabilities, shares = [item.probability for item in bins], [item.right for item in bins]
            axes.plot(probabilities, shares, label=letter, **_style(number))
        axes.set(xlabel="probability of the best answer", ylabel="share that is right", xlim=(0, 1), ylim=(0, 1.02))

    return _svg("calibration", draw)


def _style(number: int) -> dict[str, object]:
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "marker": _MARKS[number % len(_MARKS)],
        "markersize": 5,
        "linewidth": 1.6,
    }


def _svg(name: str, draw: Callable[[Axes], None]) -> str:
    # without a header, to stand in a page; ids begin with the picture's name and are the same every time
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(
        {
            "svg.hashsalt": name,
            "svg.fonttype": "path",
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    ):
        figure = Figure(figsize=(5.2, 3.4), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.grid(visible=True, color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.legend(frameon=False)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    picture = buffer.getvalue()
    picture = re.sub(r"<metadata>.*?</metadata>", "", picture[picture.index("<svg") :], flags=re.DOTALL)
    return re.sub(r'((?:id="|href="#|url\(#))', rf"\g<1>{name}-", picture)
