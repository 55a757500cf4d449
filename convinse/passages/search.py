"""Questions of a file against one index, or against an index for each set of questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from ..formats.poleval.questions import SearchQuestion
from ..formats.poleval.runs import FoundPassage, PassageRanking
from ..records.evidence import Evidence
from ..support.errors import DataError, IndexFileError, nearest
from ..support.progress import progress
from .index import PassageIndex, RankedPassages
from .layout import is_index

_AT_ONCE = 128  # questions that are searched together
_RERANKED = 32  # of them that a model ranks together


class Reranker(Protocol):
    """Ranks evidences for queries, several queries together."""

    def rank_all(
        self, queries: Sequence[str], evidences: Sequence[Sequence[Evidence]], top_k: int
    ) -> list[list[Evidence]]:
        """For each query the best `top_k` of its evidences with `score`, best first; all other fields kept."""


class Collection:
    """An index, or a folder with one for each set of questions; opened on first use.

    Args:
        folder: the index, or the folder of indexes.
        language: that the indexes must have been built with; None for any.

    Raises:
        IndexFileError: the folder is neither.
    """

    def __init__(self, folder: Path, language: str | None = None) -> None:
        self._folder = folder
        self._language = language
        self._open: dict[Path, PassageIndex] = {}
        self.sets: dict[str, Path] | None = None
        if is_index(folder):
            return
        if folder.is_dir():
            self.sets = {path.name: path for path in sorted(folder.iterdir()) if is_index(path)}
        if not self.sets:
            self.sets = None
            self._opened(folder)  # says what is wrong

    def index(self, question: SearchQuestion) -> PassageIndex:
        """The index that a question asks.

        Raises:
            IndexFileError: the question's set has none, or it cannot be opened.
            DataError: the question has no set, but there are several.
        """
        if self.sets is None:
            return self._opened(self._folder)
        if question.set is None:
            raise DataError(
                f"{self._folder}: holds an index for each of {', '.join(self.sets)}; these questions name no set, give one of the folders"
            )
        if question.set not in self.sets:
            raise IndexFileError(
                f"{self._folder}: no index for the set '{question.set}'; {nearest(question.set, list(self.sets))}"
            )
        return self._opened(self.sets[question.set])

    def _opened(self, path: Path) -> PassageIndex:
        if path not in self._open:
            index = PassageIndex(path)
            if self._language not in (None, index.parameters.language):
                raise IndexFileError(
                    f"{path}: built with the language {index.parameters.language}, not {self._language}; build it again with --force"
                )
            self._open[path] = index
        return self._open[path]


def search(
    collection: Collection,
    questions: Sequence[SearchQuestion],
    top: int = 10,
    reranker: Reranker | None = None,
    candidates: int = 200,
    quiet: bool = True,
    texts: bool = True,
) -> Iterator[PassageRanking]:
    """The best `top` passages of every question, in the order of the questions.

    Args:
        collection: where to search.
        questions: see `read_questions`.
        top: passages of a question; fewer only where the index has fewer (those that share no term are `padding`).
        reranker: puts the best `candidates` into a new order; None keeps that of BM25.
        candidates: passages that the reranker sees, at least `top`.
        quiet: show no progress.
        texts: whether titles and texts of the passages are wanted, too; without a reranker they need not be read.
    """
    for question in questions:  # before the first search: a missing index is told at once
        collection.index(question)
    with progress("searching", len(questions), "questions", quiet) as advance:
        size = _AT_ONCE if reranker is None else _RERANKED
        for start in range(0, len(questions), size):
            part = questions[start : start + size]
            yield from _search(collection, part, top, reranker, max(top, candidates), texts)
            advance(len(part))


def _search(
    collection: Collection,
    questions: Sequence[SearchQuestion],
    top: int,
    reranker: Reranker | None,
    candidates: int,
    texts: bool,
) -> Iterator[PassageRanking]:
    answers = _found(collection, questions, top if reranker is None else candidates, texts or reranker is not None)
    if reranker is None:
        for question, ranked in zip(questions, answers, strict=True):
            if texts:
                best = [
                    FoundPassage(hit.id, hit.score, passage.title, passage.text)
                    for hit, passage in zip(ranked.hits, ranked.passages, strict=True)
                ]
            else:
                best = [FoundPassage(hit.id, hit.score, None, "") for hit in ranked.hits]
            yield _padded(question, collection.index(question), best, top)
        return
    evidences = [_evidences(ranked) for ranked in answers]
    rankings = reranker.rank_all([question.text for question in questions], evidences, top)
    for question, ranking in zip(questions, rankings, strict=True):
        best = []
        for evidence in ranking:
            name, title, text = evidence["passage"]  # type: ignore[typeddict-item]
            best.append(FoundPassage(name, evidence["score"], title, text))
        yield _padded(question, collection.index(question), best, top)


def _found(collection: Collection, questions: Sequence[SearchQuestion], top: int, texts: bool) -> list[RankedPassages]:
    places: dict[PassageIndex, list[int]] = {}
    for place, question in enumerate(questions):
        places.setdefault(collection.index(question), []).append(place)
    rankings: dict[int, RankedPassages] = {}
    for index, own in places.items():
        rankings.update((place, index.find(questions[place].text, top, texts)) for place in own)
    return [rankings[place] for place in range(len(questions))]


def candidate_evidences(index: PassageIndex, question: str, number: int) -> list[Evidence]:
    """The best passages as evidences with their BM25 score, and `passage` (id, title, text)."""
    return _evidences(index.find(question, number))


def _evidences(ranked: RankedPassages) -> list[Evidence]:
    return [
        {  # type: ignore[typeddict-unknown-key]
            "evidence_text": passage_text(passage.title, passage.text),
            "source": "text",
            "disambiguations": [],
            "wikidata_entities": [],
            "score": hit.score,
            "passage": (passage.id, passage.title, passage.text),
        }
        for hit, passage in zip(ranked.hits, ranked.passages, strict=True)
    ]


def passage_text(title: str | None, text: str) -> str:
    """A passage as one text: its title, as Wikipedia evidences have it, and what it says."""
    return f"{title}, {text}" if title and title.strip() else text


def _padded(question: SearchQuestion, index: PassageIndex, best: Sequence[FoundPassage], top: int) -> PassageRanking:
    whole = min(top, len(index))
    if len(best) >= whole:
        return PassageRanking(question, best)
    known = {passage.id for passage in best}
    fillers = [passage.id for passage in index.passages(range(whole)) if passage.id not in known]
    return PassageRanking(question, best, fillers[: whole - len(best)])


def by_set(questions: Sequence[SearchQuestion]) -> dict[str, int]:
    """How many questions each set has, in the order of their names."""
    return dict(sorted(Counter(question.set or "" for question in questions).items()))
