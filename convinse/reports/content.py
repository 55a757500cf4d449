"""The content of a report, as tables of texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from string import ascii_uppercase
from typing import Any, NamedTuple

from ..scoring.convqa import MEASURES
from .comparison import CONFIDENCE, PLACES, RESAMPLES, differences, figures, presence
from .reported_run import ReportedRun, most_evidences

MEASURE_NAMES = {"p_at_1": "P@1", "mrr": "MRR", "h_at_5": "Hit@5", "answer_presence": "Answer presence"}
_GROUPS = {  # key of the metrics: name of the column, note
    "domains": ("Domain", ""),
    "turns": ("Turn", "By the number of the turn in its conversation, from 0."),
    "kinds": ("Kind", "By the key kind of the questions."),
    "sources": (
        "Source that has the answer",
        "The questions for which the evidences of a source hold a gold answer; a question may count for several, and for "
        "each run they are others.",
    ),
}
_STAGES = ("qu", "ers", "ha", "total")


class ReportTable(NamedTuple):
    """A table: its anchor on the page, its heading, a note below, columns, rows, and the places of columns of words."""

    name: str
    title: str
    note: str
    columns: list[str]
    rows: list[list[str]]
    words: tuple[int, ...] = (0,)


def letters(runs: Sequence[ReportedRun]) -> list[str]:
    """Return the names of runs in tables and pictures: A, B, ..., Z, A1, ..."""
    names = []
    for number in range(len(runs)):
        alphabet, letter = divmod(number, 26)
        names.append(f"{ascii_uppercase[letter]}{alphabet or ''}")
    return names


def tables(runs: Sequence[ReportedRun]) -> list[ReportTable]:
    """Return all tables of a report that are not empty."""
    made = [_measures(runs), _compared(runs), _origins(runs), _settings(runs), *(_groups(runs, key) for key in _GROUPS)]
    made += [_presence(runs), _calibration(runs), _seconds(runs)]
    return [table for table in made if table.rows]


def _rows(runs: Sequence[ReportedRun], cells: Callable[[ReportedRun], Iterable[str]]) -> list[list[str]]:
    # a row for each run that has cells
    rows = ([letter, *cells(run)] for letter, run in zip(letters(runs), runs, strict=True))
    return [row for row in rows if len(row) > 1]


def _measures(runs: Sequence[ReportedRun]) -> ReportTable:
    def cells(run: ReportedRun) -> list[str]:
        return [run.name, *(f"{mean:.3f} [{low:.3f}–{high:.3f}]" for mean, low, high in figures(run))]

    turns = runs[0].turns.values()
    note = (
        f"{len(turns)} questions with gold answers in {len({turn.group for turn in turns})} conversations. In brackets: {CONFIDENCE:.0%} "
        f"intervals (percentile bootstrap, {RESAMPLES:,} draws of whole conversations)."
    )
    columns = ["", "run", *MEASURE_NAMES.values()]
    return ReportTable("measures", "Measures", note, columns, _rows(runs, cells), (0, 1))


def _origins(runs: Sequence[ReportedRun]) -> ReportTable:
    rows = _rows(runs, lambda run: [run.record.begun, run.record.command] if run.record.begun else [])
    return ReportTable("origins", "How the runs were made", "", ["", "begun (UTC)", "command"], rows, (0, 1, 2))


def _settings(runs: Sequence[ReportedRun]) -> ReportTable:
    flat = [dict(_flattened(run.record.settings)) for run in runs]
    keys = dict.fromkeys(key for settings in flat for key in settings)
    rows = [
        [key, *(settings.get(key, "–") for settings in flat)]
        for key in keys
        if len({settings.get(key) for settings in flat if settings}) > 1
    ]
    columns = ["key", *letters(runs)]
    note = "The keys of the configurations that are not the same in all runs."
    return ReportTable("settings", "Settings that differ", note, columns, rows, tuple(range(len(columns))))


def _flattened(settings: dict[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    # whole keys, such as `clocq_params.d`, and values as JSON
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            yield from _flattened(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", json.dumps(value, ensure_ascii=False)


def latex(table: ReportTable) -> str:
    """Return a table for a paper, with the rules of the package `booktabs`."""
    lines = [" & ".join(cell.translate(_ESCAPES) for cell in row) + r" \\" for row in (table.columns, *table.rows)]
    kinds = "".join("l" if place in table.words else "r" for place in range(len(table.columns)))
    body = "\n".join([rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"])
    return f"% {table.title}\n{body}\n\\end{{tabular}}\n"


_ESCAPES = str.maketrans({character: rf"\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "\n": " ",
})  # fmt: skip


def _compared(runs: Sequence[ReportedRun]) -> ReportTable:
    rows = []
    for letter, run in zip(letters(runs)[1:], runs[1:], strict=True):
        for measure, (mean, better, worse, p) in zip(MEASURES, differences(runs[0], run), strict=True):
            chance = "< 0.001" if p < 0.001 else f"{p:.3f}"
            rows.append([letter, MEASURE_NAMES[measure], f"{mean:+.3f}", str(better), str(worse), chance])
    note = (
        "The measure less that of A, and for how many questions it is better and worse. p: two-sided, of a paired randomisation test that swaps whole "
        "conversations; it is not adjusted for the number of comparisons."
    )
    columns = ["", "measure", "difference", "better", "worse", "p"]
    return ReportTable("compared", "Compared with A", note, columns, rows, (0, 1))


def _groups(runs: Sequence[ReportedRun], key: str) -> ReportTable:
    column, note = _GROUPS[key]
    shown = {"p_at_1": "P@1", "answer_presence": "presence"}
    if key == "sources":
        del shown["answer_presence"]  # the groups are made by it
    rows = []
    for name in dict.fromkeys(name for run in runs for name in run.metrics[key]):
        groups: list[dict[str, Any]] = [run.metrics[key].get(name, {}) for run in runs]
        counts = [str(group.get("num_questions", 0)) for group in groups]
        questions = counts[0] if len(set(counts)) == 1 else " / ".join(counts)
        measured = [
            f"{group[measure]:.3f}" if group.get("num_questions") else "–" for measure in shown for group in groups
        ]
        rows.append([name, questions, *measured])
    columns = [column, "questions", *(f"{name} {letter}" for name in shown.values() for letter in letters(runs))]
    return ReportTable(key, f"By {column[0].lower()}{column[1:]}", note, columns, rows)


def _presence(runs: Sequence[ReportedRun]) -> ReportTable:
    places = [place for place in PLACES if place <= most_evidences(runs)]
    rows = _rows(runs, lambda run: (f"{share:.3f}" for share in presence(run.turns.values(), places)))
    note = "The share of questions with a gold answer among the first e evidences."
    return ReportTable("presence", "Answer presence by e", note, ["", *map(str, places)], rows)


def _calibration(runs: Sequence[ReportedRun]) -> ReportTable:
    def cells(run: ReportedRun) -> list[str]:
        metrics, abstained, none = run.metrics, run.metrics["abstained"], run.metrics["unanswerable"]
        shares = [metrics["calibration_error"], metrics["calibration_error_by_chance"], *abstained.values()]
        of_none = f"{none['abstained']:.3f}" if none["num_questions"] else "–"
        return [*(f"{share:.3f}" for share in shares), str(none["num_questions"]), of_none]

    note = (
        "Calibration error: how far the probabilities of the best answers are from the share that is right, over ten bins; by chance: that of so many answers whose probabilities are true. Abstained: the share of the questions with gold "
        "answers, of those of them whose best answer is right, and of the questions without an answer."
    )
    columns = ["", "calibration error", "by chance", "abstained", "of the right", "without an answer"]
    title = "Calibration and abstention"
    return ReportTable("calibration", title, note, [*columns, "abstained on them"], _rows(runs, cells))


def _seconds(runs: Sequence[ReportedRun]) -> ReportTable:
    def cells(run: ReportedRun) -> list[str]:
        if not run.seconds:
            return []
        each = 1000 * run.seconds.get("total", 0.0) / max(1, len(run.turns))
        return [*(f"{run.seconds.get(stage, 0.0):.1f}" for stage in _STAGES), f"{each:.0f}"]

    note = "Seconds of the runs as they were made; a run that found its cache warm was faster. The last column: milliseconds a question with gold answers."
    return ReportTable("seconds", "Seconds by stage", note, ["", *_STAGES, "ms a question"], _rows(runs, cells))
