"""The pictures of the SQuAD 2.0 evaluation: precision-recall curves, histograms of the no-answer probability.

matplotlib is an optional extra, loaded on use; figures are made without its global state.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..support.errors import ScoringError
from ..support.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .no_answer import Booleans, Floats

_CURVES = {
    "exact": "Precision and recall of exact matches",
    "f1": "Precision and recall of F1",
    "oracle": "Precision and recall of perfect answers",
}


def check_plots() -> None:
    """Raise a `ScoringError` that says what to install when matplotlib is not there."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ScoringError("plots need matplotlib; run pip install 'convinse[plots]'") from None


def plot_curve(folder: Path, name: str, precisions: Floats, recalls: Floats) -> None:
    """Write `pr_NAME.png`, a curve of steps; `name` is `exact`, `f1` or `oracle`, values are in 0..1."""
    figure, axes = _figure()
    axes.step(recalls, precisions, where="post", color="tab:blue")
    axes.fill_between(recalls, precisions, step="post", color="tab:blue", alpha=0.2)
    axes.set(xlabel="recall", ylabel="precision", xlim=(0.0, 1.05), ylim=(0.0, 1.05), title=_CURVES[name])
    _save(figure, folder / f"pr_{name}.png")


def plot_histograms(folder: Path, probabilities: Floats, answerable: Booleans) -> None:
    """Write `na_prob_hist_hasAns.png` and `na_prob_hist_noAns.png`; a group without questions has none."""
    for name, title, chosen in (("hasAns", "with", answerable), ("noAns", "without", ~answerable)):
        if not chosen.any():
            continue
        figure, axes = _figure()
        values = probabilities[chosen]
        axes.hist(values, weights=[1.0 / len(values)] * len(values), bins=20, range=(0.0, 1.0), color="tab:blue")
        axes.set(xlabel="no-answer probability", ylabel="share of the questions", title=f"Questions {title} an answer")
        _save(figure, folder / f"na_prob_hist_{name}.png")


def _figure() -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    return figure, figure.subplots()


def _save(figure: Figure, path: Path) -> None:
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png")
