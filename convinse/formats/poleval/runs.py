"""Results of a search as files: PolEval 2022's submission, a TREC run, or JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from ...support.errors import OutputError
from ...support.files import replacing
from .questions import SearchQuestion


class Passage(msgspec.Struct):
    """A line of an index; `meta` and other keys stay in the line."""

    id: str
    text: str
    title: str | None = None


ScoredPassage = tuple[float, Passage]
# a question, its passages, best first, and ids of passages that do not match: they fill up a submission, which must have a fixed number
PassageRanking = tuple[SearchQuestion, Sequence[ScoredPassage], Sequence[str]]


def write_run(path: Path, rankings: Iterable[PassageRanking], form: str, force: bool = False) -> None:
    """Write results in one of `FORMATS`; the file appears when all are written. Raises `OutputError`.

    - `poleval`: a line for each question with its passage ids, tab-separated, best first, padding included.
    - `trec`: lines of question id, `Q0`, passage id, rank, score, `convinse`, as trec_eval and ir_measures read them,
      without padding. Equal scores are lowered by the least step, as these tools sort by score.
    - `jsonl`: an object for each question: `id`, `set` (of `in.tsv`), `text`, `passages` with `id`, `score`, `title`,
      `text`.
    """
    check_free(path, force)
    with replacing(path) as temporary, temporary.open("wb") as file:
        for ranking in rankings:
            file.write(FORMATS[form](*ranking))


def check_free(path: Path, force: bool) -> None:
    """Raise `OutputError` if a file or folder at `path` must not be replaced."""
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; give the name of a file")
    if path.exists() and not force:
        raise OutputError(f"{path}: exists already; --force replaces it")


def _poleval(_: SearchQuestion, passages: Sequence[ScoredPassage], padding: Sequence[str]) -> bytes:
    return ("\t".join([*(passage.id for _, passage in passages), *padding]) + "\n").encode()


def _trec(question: SearchQuestion, passages: Sequence[ScoredPassage], _: Sequence[str]) -> bytes:
    # scores must fall also as 32-bit floats, as the field's tools read and sort them
    lines = []
    last = np.float32(np.inf)
    for rank, (score, passage) in enumerate(passages, 1):
        last = min(np.float32(score), np.nextafter(last, np.float32(-np.inf)))
        lines.append(f"{question.id} Q0 {passage.id} {rank} {last:.9g} convinse\n")
    return "".join(lines).encode()


def _jsonl(question: SearchQuestion, passages: Sequence[ScoredPassage], _: Sequence[str]) -> bytes:
    record = {
        "id": question.id,
        **({"set": question.set} if question.set is not None else {}),
        "text": question.text,
        "passages": [
            {"id": passage.id, "score": round(score, 6), "title": passage.title, "text": passage.text}
            for score, passage in passages
        ],
    }
    return msgspec.json.encode(record) + b"\n"


FORMATS: dict[str, Callable[[SearchQuestion, Sequence[ScoredPassage], Sequence[str]], bytes]] = {
    "poleval": _poleval,
    "trec": _trec,
    "jsonl": _jsonl,
}
