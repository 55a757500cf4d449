"""The baseline of the MRQA 2019 shared task, as its README gives it: EM and F1 of two multi-task readers on twelve dev sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

Scores = tuple[float, float]


class Baseline(NamedTuple):
    """A dev set: whether it is in the domain of the training data, and (EM, F1) of BERT-Base and of BERT-Large.

    `files` are the names under which its file goes, without `.jsonl.gz`: ours (as `download` saves it) and the official.
    """

    in_domain: bool
    title: str
    files: tuple[str, ...]
    base: Scores
    large: Scores


BASELINES = (
    Baseline(True, "SQuAD", ("SQuAD",), (78.5, 86.7), (80.3, 88.4)),
    Baseline(True, "HotpotQA", ("HotpotQA",), (59.8, 76.6), (62.4, 79.0)),
    Baseline(True, "TriviaQA Web", ("TriviaQA", "TriviaQA-web"), (65.6, 71.6), (68.2, 74.7)),
    Baseline(True, "NewsQA", ("NewsQA",), (50.8, 66.8), (49.6, 66.3)),
    Baseline(True, "SearchQA", ("SearchQA",), (69.5, 76.7), (71.8, 79.0)),
    Baseline(True, "NaturalQuestions", ("NaturalQuestions", "NaturalQuestionsShort"), (65.4, 77.4), (67.9, 79.8)),
    Baseline(False, "DROP", ("DROP",), (25.7, 34.5), (34.6, 43.8)),
    Baseline(False, "RACE", ("RACE",), (30.4, 41.4), (31.3, 42.5)),
    Baseline(False, "BioASQ", ("BioASQ",), (47.1, 62.7), (51.9, 66.8)),
    Baseline(False, "TextbookQA", ("TextbookQA",), (44.9, 53.9), (47.4, 55.7)),
    Baseline(False, "RelationExtraction", ("RelationExtraction",), (72.6, 83.8), (72.7, 85.2)),
    Baseline(False, "DuoRC", ("DuoRC", "DuoRC.ParaphraseRC"), (44.8, 54.6), (46.8, 58.0)),
)


class BaselineRow(NamedTuple):
    """A row of the table: a data set with the baselines' scores and one's own, None where there are none."""

    title: str
    base: Scores | None
    large: Scores | None
    own: Scores | None


def file_names(name: str) -> tuple[str, ...]:
    """The names under which the file of a data set goes: those of the task, if it is one of its, else the name alone."""
    return next((row.files for row in BASELINES if name in row.files), (name,))


def comparison(own: Mapping[str, Scores]) -> list[BaselineRow]:
    """The twelve rows of the task's table, then one's other data sets, then the mean over one's own figures.

    Args:
        own: (EM, F1) by the name of a file, without `.jsonl.gz`.
    """
    left = dict(own)
    rows = []
    for baseline in BASELINES:
        scores = next((left.pop(name) for name in baseline.files if name in left), None)
        title = f"({'I' if baseline.in_domain else 'O'}) {baseline.title}"
        rows.append(BaselineRow(title, baseline.base, baseline.large, scores))
    rows += [BaselineRow(name, None, None, scores) for name, scores in left.items()]
    measured = [row for row in rows if row.own is not None]
    if measured:
        columns = zip(*((row.base, row.large, row.own) for row in measured), strict=True)
        rows.append(BaselineRow(f"mean of {len(measured)}", *map(_mean, columns)))
    return rows


def _mean(column: Sequence[Scores | None]) -> Scores | None:
    """The mean of a column, None where not all of its rows have figures."""
    scores = [score for score in column if score is not None]
    if len(scores) < len(column):
        return None
    return sum(em for em, _ in scores) / len(scores), sum(f1 for _, f1 in scores) / len(scores)
