"""Searches the questions of a file in an index, or in an index for each set of questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..formats.poleval.questions import SearchQuestion
from ..formats.poleval.runs import Passage, PassageRanking, ScoredPassage
from ..records.evidence import Evidence
from ..support.errors import IndexFileError, nearest
from ..support.progress import progress
from .index import PassageIndex
from .layout import is_index

_TOGETHER = 32  # questions, which a model ranks together
# the best evidences of each query with `score`, best first, by queries, their evidences and a number; other fields stay
Ranking = Callable[[Sequence[str], Sequence[Sequence[Evidence]], int], list[list[Evidence]]]


def indexes_of(folder: Path, questions: Sequence[SearchQuestion]) -> list[PassageIndex]:
    """Return the index of each question: the folder, or its sub-folder of the question's set. Raises `IndexFileError`."""
    names = set()
    if folder.is_dir() and not is_index(folder):
        names = {path.name for path in folder.iterdir() if is_index(path)}
    if not names:
        return [PassageIndex(folder)] * len(questions)
    opened: dict[str, PassageIndex] = {}
    for question in questions:
        name = question.set or ""
        if name not in names:
            which = f"the set '{name}'" if name else "questions without a set"
            raise IndexFileError(f"{folder}: no index for {which}; {nearest(name, sorted(names))}")
        if name not in opened:
            opened[name] = PassageIndex(folder / name)
    return [opened[question.set or ""] for question in questions]


def search(
    indexes: Sequence[PassageIndex],
    questions: Sequence[SearchQuestion],
    top: int = 10,
    rank: Ranking | None = None,
    candidates: int = 200,
    quiet: bool = True,
    texts: bool = True,
) -> Iterator[PassageRanking]:
    """Yield the best `top` passages of every question, in the order of the questions.

    Passages without a term of the question are `padding`. `rank` sorts the best `candidates` anew; without it, `texts` may be left
    out.
    """
    pairs = list(zip(questions, indexes, strict=True))
    with progress("searching", len(questions), "questions", quiet) as advance:
        for start in range(0, len(pairs), _TOGETHER):
            part = pairs[start : start + _TOGETHER]
            if rank is None:
                rankings = [_found(index, question.text, top, texts) for question, index in part]
            else:
                rankings = _reranked(part, top, rank, max(top, candidates))
            for (question, index), best in zip(part, rankings, strict=True):
                yield question, best, _padding(index, best, top)
            advance(len(part))


def _found(index: PassageIndex, question: str, top: int, texts: bool) -> list[ScoredPassage]:
    hits = index.search(question, top)
    if not texts:
        return [(hit.score, Passage(hit.id, "")) for hit in hits]
    return list(zip([hit.score for hit in hits], index.passages([hit.number for hit in hits]), strict=True))


def _reranked(
    part: Sequence[tuple[SearchQuestion, PassageIndex]], top: int, rank: Ranking, candidates: int
) -> list[list[ScoredPassage]]:
    evidences = [candidate_evidences(index, question.text, candidates) for question, index in part]
    rankings = rank([question.text for question, _ in part], evidences, top)
    return [[(evidence["score"], evidence["passage"]) for evidence in ranking] for ranking in rankings]  # type: ignore[typeddict-item]


def candidate_evidences(index: PassageIndex, question: str, number: int) -> list[Evidence]:
    """Return the best passages as evidences with their BM25 score, and their `passage`."""
    return [
        {  # type: ignore[typeddict-unknown-key]
            "evidence_text": passage_text(passage.title, passage.text),
            "source": "text",
            "disambiguations": [],
            "wikidata_entities": [],
            "score": score,
            "passage": passage,
        }
        for score, passage in _found(index, question, number, True)
    ]


def passage_text(title: str | None, text: str) -> str:
    """Return a passage as one text that begins with its title, as Wikipedia evidences do."""
    return f"{title}, {text}" if title and title.strip() else text


def _padding(index: PassageIndex, best: Sequence[ScoredPassage], top: int) -> list[str]:
    whole = min(top, len(index))
    if len(best) >= whole:
        return []
    ids = {passage.id for _, passage in best}
    return [name for name in map(index.id, range(whole)) if name not in ids][: whole - len(best)]
