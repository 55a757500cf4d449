"""The pictures of a report, as SVG within its page. Runs are named by letters; matplotlib is optional, loaded on use."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

from .comparison import PLACES, calibration, presence
from .reported_run import ReportedRun, most_evidences

# of Okabe and Ito, which colour-blind people can distinguish; runs differ by their marks, too
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_STYLE = {"svg.fonttype": "path", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}


def presence_picture(letters: Sequence[str], runs: Sequence[ReportedRun]) -> str:
    """Draw the share of questions with a gold answer among the first e evidences."""
    places = list(range(1, max(2, most_evidences(runs)) + 1))
    marked = [place - 1 for place in PLACES if place <= len(places)]
    lines = [(places, presence(run.turns.values(), places)) for run in runs]
    axes: dict[str, Any] = {"xlabel": "evidences (e)", "ylabel": "share of questions", "ylim": (0.0, 1.0)}
    return _svg("presence", letters, lines, {**axes, "xscale": "log"}, marked)


def calibration_picture(letters: Sequence[str], runs: Sequence[ReportedRun]) -> str:
    """Draw the share of right answers by their probability; a calibrated run is on the diagonal."""
    bins = [calibration(run.turns.values()) for run in runs]
    lines = [([probability for probability, _, _ in items], [right for _, right, _ in items]) for items in bins]
    axes: dict[str, Any] = {"xlabel": "probability of the best answer", "ylabel": "share that is right"}
    return _svg("calibration", letters, lines, {**axes, "xlim": (0, 1), "ylim": (0, 1.02)})


def _svg(
    name: str, letters: Sequence[str], lines: Sequence[Any], settings: dict[str, Any], marked: list[int] | None = None
) -> str:
    # without a header, to stand in a page; the same runs give the same text
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(5.2, 3.4), layout="constrained")
        axes = figure.subplots()
        for number, (letter, (x, y)) in enumerate(zip(letters, lines, strict=True)):
            colour, mark = _COLOURS[number % len(_COLOURS)], _MARKS[number % len(_MARKS)]
            axes.plot(x, y, label=letter, color=colour, marker=mark, markersize=5, linewidth=1.6, markevery=marked)
        axes.set(**settings)
        if marked is None:
            axes.plot([0, 1], [0, 1], color="#888888", linewidth=1, linestyle="--")
        else:
            ticks = [x[index] for index in marked]
            axes.set_xticks(ticks, [str(tick) for tick in ticks])
            axes.minorticks_off()
        axes.grid(visible=True, color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.legend(frameon=False)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    picture = buffer.getvalue()
    picture = re.sub(r"<metadata>.*?</metadata>", "", picture[picture.index("<svg") :], flags=re.DOTALL)
    return re.sub(r'((?:id="|href="#|url\(#))', rf"\g<1>{name}-", picture)  # no id twice in the page
