"""The files that `evaluate` reads: gold answers in the MRQA, SQuAD and KLUE-MRC formats, predictions, probabilities.

Contexts and tokens are skipped: 100,000 questions take about a second. Every file may be packed (gzip, bzip2, zstd), whatever its name.
Formats: MRQA, a context a line below an optional header line (https://github.com/mrqa/MRQA-Shared-Task-2019); SQuAD, a
JSON object (https://rajpurkar.github.io/SQuAD-explorer); KLUE-MRC, the same with `guid` for `id`
(https://klue-benchmark.com).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..formats.mrqa import read_plain
from ..formats.squad import raw_paragraphs
from ..support.errors import DataError, one_line
from ..support.jsonlines import decode_part, decode_whole, read_bytes, read_lines
from .klue_mrc import AnswerText

T = TypeVar("T", str, float)


class _GoldQuestion(msgspec.Struct):
    answers: list[AnswerText]
    id: str | None = None
    guid: str | None = None
    is_impossible: bool | None = None


class _GoldParagraph(msgspec.Struct):
    qas: list[_GoldQuestion]


Reference = tuple[list[str], bool]  # the gold answers of a question, and whether the file marks it as unanswerable


def read_mrqa_answers(path: Path) -> dict[str, list[str]]:
    """Read the accepted answers by qid of an MRQA file. Raises `DataError`, also for a qid that comes twice."""
    answers: dict[str, list[str]] = {}
    for _, question, number in read_plain(path):
        if question.qid in answers:
            raise DataError(f"{path}:{number}: question '{question.qid}' is given twice")
        answers[question.qid] = question.answers
    return answers


def read_squad_references(path: Path) -> dict[str, Reference]:
    """Read the gold answers by id of a SQuAD or KLUE-MRC file.

    A question with `is_impossible` is unanswerable; without that key (SQuAD 1.1), a question without answers.
    Raises `DataError`.
    """
    references: dict[str, Reference] = {}
    for at, paragraph in raw_paragraphs(path):
        for question in decode_part(path, at, paragraph, _GoldParagraph).qas:
            qid = question.guid if question.id is None else question.id
            if qid is None:
                raise DataError(f"{path}: a question in {at} has neither 'id' nor 'guid'")
            if qid in references:
                raise DataError(f"{path}: question '{qid}' is given twice (again in {at})")
            texts = [answer.text for answer in question.answers]
            impossible = not texts if question.is_impossible is None else question.is_impossible
            references[qid] = texts, impossible
    return references


def read_predictions(path: Path) -> dict[str, str]:
    """Read the predicted texts by id, a JSON object. Raises `DataError`."""
    return _mapping(path, read_bytes(path), str, "prediction")


def read_probabilities(path: Path) -> dict[str, float]:
    """Read the no-answer probabilities by id, a JSON object. Raises `DataError`."""
    return _mapping(path, read_bytes(path), float, "no-answer probability")


def read_triples(path: Path) -> list[dict[str, Any]]:
    """Read predictions with `id`, `prediction_text` and perhaps `no_answer_probability`. Raises `DataError`.

    The file is a JSON list, JSON lines, or an object of texts by id.
    """
    data = read_bytes(path).strip()
    first, _, rest = data.partition(b"\n")
    if data[:1] == b"[":
        triples = decode_whole(path, data, list[dict[str, Any]])
    elif b'"prediction_text"' in first and b'"id"' in first and (not rest or first.rstrip().endswith(b"}")):
        triples = [record for _, record in read_lines(path, dict[str, Any])]
    else:
        texts = _mapping(path, data, str, "prediction")
        triples = [{"id": qid, "prediction_text": text} for qid, text in texts.items()]
    return [{**triple, "id": str(triple["id"])} if type(triple.get("id")) is int else triple for triple in triples]


def paired_files(data: Path, predictions: Path) -> dict[str, tuple[Path, Path]]:
    """Pair the files NAME.jsonl or NAME.jsonl.gz of a folder with the NAME.json of another, by NAME.

    Raises `DataError`.
    """
    try:
        names = {path: path.name.removesuffix(".gz") for path in sorted(data.iterdir())}
        predicted = {path.stem for path in predictions.iterdir() if path.suffix == ".json"}
    except OSError as error:
        raise DataError(f"cannot be listed: {one_line(error)}; give two folders or two files") from None
    files = {name.removesuffix(".jsonl"): path for path, name in names.items() if name.endswith(".jsonl")}
    if not files:
        raise DataError(f"{data}: no NAME.jsonl or NAME.jsonl.gz in this folder")
    for name in sorted(files.keys() ^ predicted):
        if name in files:
            raise DataError(f"{predictions / name}.json: there are no predictions for {files[name]}")
        raise DataError(f"{predictions / name}.json: there is no {name}.jsonl or {name}.jsonl.gz in {data}")
    return {name: (path, predictions / f"{name}.json") for name, path in files.items()}


def _mapping(path: Path, data: bytes, kind: type[T], name: str) -> dict[str, T]:
    values: dict[str, T] = {}
    for qid, value in decode_whole(path, data, dict[str, Any]).items():
        try:
            values[qid] = msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            raise DataError(f"{path}: the {name} of '{qid}': {one_line(error)}") from None
    return values
