"""The measures of PolEval 2022's passage retrieval (https://2022.poleval.pl/tasks/task3): NDCG@10 in percent, and others.

Two pairs of files are read:

- those of the task: `expected.tsv` has the relevant passage ids of a question in each line, the submission the retrieved ones,
  best first; lines belong together by their number. `in.tsv` beside the expected file tells the sets.
- `pairs.tsv` (question-id, passage-id, score; tab-separated with that header) and a submission of the same three columns
  (its header may be left out), where a higher score is better.

How the open cases count:

- Ids are separated by tabs or blanks. A first line that begins as that of the task's `out-header.tsv` is its header.
- An id that comes twice in a submission counts at its first place only; the second one takes up its place all the same.
  GEval, the organisers' program, counts it at each of its places, so that NDCG can be more than 100: `official` does.
  Repeated relevant ids count once. The result says in `repeated_ids` how they counted, and in how many lines there are any.
- Ids that are not relevant, or not in the corpus at all, are simply not relevant. A short list has nothing at the places
  that are missing, and the ideal ranking is not shortened. An empty line, or a question of `pairs.tsv` that the submission
  does not name, counts 0. Passages beyond the tenth place (the hundredth for recall@100) do not count.
- Equal scores of a submission keep the order of its lines.
- In `pairs.tsv`, a score above 0 is the gain of the passage (NDCG) and makes it relevant (the other measures).

The measures themselves are those of trec_eval, computed by ir_measures: with gain g at place i, DCG is the sum of
g / log2(i + 1), which NDCG divides by that of the best possible order of ten.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..support.errors import DataError, ScoringError, missing_extra
from ..support.jsonlines import read_bytes

ALL, MACRO = "all", "macro"
MEASURES = {"ndcg_at_10": "nDCG@10", "mrr_at_10": "RR@10", "recall_at_10": "R@10", "recall_at_100": "R@100"}
_PAIRS_HEADER = ["question-id", "passage-id", "score"]
_QUESTIONS = "in.tsv"
_SUBMISSION_HEADER = "Result1"  # the first field of out-header.tsv, by which GEval knows a header
_PLACES = 10  # that NDCG@10 looks at


class Expected(NamedTuple):
    """The gain of each relevant passage by question, and the set of each question."""

    gains: dict[str, dict[str, int]]
    sets: dict[str, str]
    by_line: bool  # questions are lines, with their number as id


def read_expected(path: Path, questions: Path | None = None) -> Expected:
    """Read relevant passages from `expected.tsv` or `pairs.tsv`, which has a header.

    `questions` is the `in.tsv` that names the sets; by default `in.tsv` beside `path`, if it exists.
    Raises `DataError` or `ScoringError`.
    """
    rows = _rows(path)
    if not rows:
        raise DataError(f"{path}: no lines; expected passage ids, or the header {' '.join(_PAIRS_HEADER)} and pairs")
    if rows[0] == _PAIRS_HEADER:
        gains: dict[str, dict[str, int]] = {}
        for number, question, passage, score in _scored(path, rows):
            gain = int(score)
            if gain != score or gain < 0 or gains.setdefault(question, {}).setdefault(passage, gain) != gain:
                raise DataError(f"{path}:{number}: expected one whole score of 0 or more for a passage of a question")
        for question, passages in gains.items():
            if not any(passages.values()):
                raise DataError(f"{path}: question '{question}' has no relevant passage")
        if not gains:
            raise DataError(f"{path}: no pairs below the header")
        return Expected(gains, dict.fromkeys(gains, ALL), False)
    for number, row in enumerate(rows, 1):
        if not row:
            raise DataError(f"{path}:{number}: an empty line; each question must have a relevant passage")
    lines = {str(number): dict.fromkeys(row, 1) for number, row in enumerate(rows, 1)}
    return Expected(lines, _sets(path, questions, len(rows)), True)


def _sets(path: Path, questions: Path | None, lines: int) -> dict[str, str]:
    beside = path.with_name(_QUESTIONS)
    source = questions or (beside if beside.is_file() else None)
    if source is None:
        return {str(number): ALL for number in range(1, lines + 1)}
    from ..formats.poleval.questions import read_questions

    named = read_questions(source)
    if len(named) != lines:
        raise ScoringError(f"{source}: {len(named)} questions, but {path} has {lines} lines; they must belong together")
    sets = {str(number): question.set or ALL for number, question in enumerate(named, 1)}
    if MACRO in sets.values():
        raise DataError(f"{source}: no set can be called '{MACRO}', the name of the average")
    return sets


def read_submission(path: Path, expected: Expected) -> dict[str, list[str]]:
    """Read the retrieved passage ids by question, best first, from a file of the same form as `expected`.

    Raises `DataError` or `ScoringError`.
    """
    rows = _rows(path)
    if expected.by_line:
        if rows and rows[0] == _PAIRS_HEADER:
            raise ScoringError(f"{path}: holds scored pairs, the expected file lines of ids; give files of one form")
        if rows and rows[0][:1] == [_SUBMISSION_HEADER]:
            rows = rows[1:]
        if len(rows) != len(expected.gains):
            raise ScoringError(f"{path}: {len(rows)} lines, but {len(expected.gains)} are expected, one a question")
        return {str(number): row for number, row in enumerate(rows, 1)}
    scores: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for number, question, passage, score in _scored(path, rows):
        if question not in expected.gains:
            raise ScoringError(f"{path}:{number}: question '{question}' is not in the expected file")
        scores[question].append((score, passage))
    return {
        question: [passage for _, passage in sorted(scored, key=lambda pair: -pair[0])]
        for question, scored in scores.items()
    }


def evaluate(expected: Expected, retrieved: Mapping[str, Sequence[str]], official: bool = False) -> dict[str, Any]:
    """Return NDCG@10, MRR@10, recall@10 and recall@100 in percent with four digits, by set, and their mean over the sets.

    Args:
        expected: see `read_expected`.
        retrieved: passage ids by question, best first.
        official: count an id that is repeated at each of its places in NDCG@10, as GEval does.
    """
    values = _measure(expected.gains, {question: retrieved.get(question, ()) for question in expected.gains})
    repeating = {question: ids for question, ids in retrieved.items() if len({*ids}) < len(ids)}
    if official:
        for question, ids in repeating.items():
            values[question]["ndcg_at_10"] = _official_ndcg(expected.gains[question], ids)
    questions: dict[str, list[str]] = defaultdict(list)
    for question in expected.gains:
        questions[expected.sets[question]].append(question)
    means = {
        name: {key: math.fsum(values[question][key] for question in group) / len(group) for key in MEASURES}
        for name, group in sorted(questions.items())
    }
    macro = {key: math.fsum(mean[key] for mean in means.values()) / len(means) for key in MEASURES}
    return {
        "sets": {name: {"num_questions": len(questions[name]), **_percent(mean)} for name, mean in means.items()},
        MACRO: {"num_questions": len(expected.gains), **_percent(macro)},
        "repeated_ids": {"counted": "each time" if official else "once", "lines": len(repeating)},
    }


def _official_ndcg(gains: Mapping[str, int], ids: Sequence[str]) -> float:
    # every place of a relevant id has its gain
    def dcg(values: Sequence[int]) -> float:
        return math.fsum(gain / math.log2(place + 1) for place, gain in enumerate(values[:_PLACES], 1))

    return dcg([gains.get(passage, 0) for passage in ids]) / dcg(sorted(gains.values(), reverse=True))


def _measure(
    gains: Mapping[str, Mapping[str, int]], retrieved: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    try:
        import ir_measures
    except ModuleNotFoundError as error:
        raise missing_extra(f"evaluate poleval needs ir_measures ({error.name} is missing)", "ir") from error

    run = {}
    for question, ids in retrieved.items():
        # a blank is in no id: a repeated passage takes up its place under a name that is not relevant
        names = [f"{passage} {place}" if passage in ids[:place] else passage for place, passage in enumerate(ids)]
        run[question] = {name: float(len(names) - place) for place, name in enumerate(names)}
    keys = {ir_measures.parse_measure(name): key for key, name in MEASURES.items()}
    values: dict[str, dict[str, float]] = {question: dict.fromkeys(MEASURES, 0.0) for question in gains}
    for metric in ir_measures.iter_calc(list(keys), {**gains}, run):
        values[metric.query_id][keys[metric.measure]] = metric.value
    return values


def _percent(values: Mapping[str, float]) -> dict[str, float]:
    return {key: round(100 * value, 4) for key, value in values.items()}


def _rows(path: Path) -> list[list[str]]:
    lines = read_bytes(path).split(b"\n")
    if not lines[-1].strip():  # a line break at the end of the file begins no line
        lines.pop()
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            rows.append(line.decode().split())
        except UnicodeDecodeError:
            raise DataError(f"{path}:{number}: no UTF-8") from None
    return rows


def _scored(path: Path, rows: Sequence[Sequence[str]]) -> Iterator[tuple[int, str, str, float]]:
    # (line, question, passage, score), below an optional header
    for number, row in enumerate(rows, 1):
        if not row or (number == 1 and list(row) == _PAIRS_HEADER):
            continue
        try:
            question, passage, text = row
            score = float(text)
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise DataError(f"{path}:{number}: expected question id, passage id and score, separated by tabs")
        yield number, question, passage, score
