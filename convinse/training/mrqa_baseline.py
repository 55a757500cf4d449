"""The table of the MRQA shared task: its dev sets, the scores of its baselines, and those of a model beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

Scores = tuple[float, float]


class Baseline(NamedTuple):
    """A dev set: whether it is in the domain of the training data, and (EM, F1) of BERT-Base and of BERT-Large.

    `files` are the names of its file, without `.jsonl.gz`: as `download` saves it, and the official.
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
# a row of the table: a data set with the scores of the baselines and of this model, None if there are no scores
BaselineRow = tuple[str, Sequence[Scores | None]]


def file_names(name: str) -> tuple[str, ...]:
    """Return the names of the file of a data set: all names of a data set of the task, else the name alone."""
    return next((row.files for row in BASELINES if name in row.files), (name,))


def comparison(model: Mapping[str, Scores]) -> list[BaselineRow]:
    """Return the twelve rows of the task's table, then further data sets, then the mean over the model's figures.

    `model` has (EM, F1) by the name of a file, without `.jsonl.gz`.
    """
    left = dict(model)
    rows: list[BaselineRow] = []
    for baseline in BASELINES:
        scores = next((left.pop(name) for name in baseline.files if name in left), None)
        title = f"({'I' if baseline.in_domain else 'O'}) {baseline.title}"
        rows.append((title, (baseline.base, baseline.large, scores)))
    rows += [(name, (None, None, scores)) for name, scores in left.items()]
    measured = [columns for _, columns in rows if columns[-1] is not None]
    if measured:
        means: list[Scores | None] = []
        for column in zip(*measured, strict=True):
            scored = [scores for scores in column if scores is not None]
            mean = (sum(em for em, _ in scored) / len(measured), sum(f1 for _, f1 in scored) / len(measured))
            means.append(mean if len(scored) == len(measured) else None)
        rows.append((f"mean of {len(measured)}", means))
    return rows


def shown(scores: Scores | None) -> str:
    """Format scores as `78.5 / 86.7`, or a dash."""
    return "–" if scores is None else f"{scores[0]:.1f} / {scores[1]:.1f}"
