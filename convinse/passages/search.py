"""Searches the questions of a file in an index, or in an index for each set of questions."""

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
from .index import PassageIndex
from .layout import is_index

_RERANKED = 32  # questions that a model ranks together


class Reranker(Protocol):
    """Ranks evidences for queries, several queries together."""

    def rank_all(
        self, queries: Sequence[str], evidences: Sequence[Sequence[Evidence]], top_k: int
    ) -> list[list[Evidence]]:
        """Return the best `top_k` evidences of each query with `score`, best first; other fields stay."""


class Collection:
    """An index, or a folder with an index for each set of questions; opened on first use.

    Args:
        folder: the index, or the folder of indexes.
        language: of the indexes, which is checked; None for any.

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
            self._opened(folder)  # raises: the message says what is wrong

    def index(self, question: SearchQuestion) -> PassageIndex:
        """Return the index of a question.

        Raises:
            IndexFileError: the question's set has no index, or it cannot be opened.
            DataError: the question has no set, but the folder has several.
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
    """Yield the best `top` passages of every question, in the order of the questions.

    Args:
        collection: the indexes.
        questions: see `read_questions`.
        top: passages of a question; fewer if the index has fewer (passages without a term of the question are `padding`).
        reranker: sorts the best `candidates` anew; None: the order of BM25.
        candidates: passages for the reranker, at least `top`.
        quiet: show no progress.
        texts: whether to read titles and texts of the passages, which a reranker needs in any case.
    """
    indexes = [
        collection.index(question) for question in questions
    ]  # a missing index is an error before the first search
    with progress("searching", len(questions), "questions", quiet) as advance:
        if reranker is None:
            for question, index in zip(questions, indexes, strict=True):
                hits, passages = index.find(question.text, top, texts)
                contents = [(passage.title, passage.text) for passage in passages] or [(None, "")] * len(hits)
                pairs = zip(hits, contents, strict=True)
                best = [FoundPassage(hit.id, hit.score, title, text) for hit, (title, text) in pairs]
                yield _padded(question, index, best, top)
                advance(1)
            return
        for start in range(0, len(questions), _RERANKED):
            part = list(zip(questions, indexes, strict=True))[start : start + _RERANKED]
            evidences = [candidate_evidences(index, question.text, max(top, candidates)) for question, index in part]
            rankings = reranker.rank_all([question.text for question, _ in part], evidences, top)
            for (question, index), ranking in zip(part, rankings, strict=True):
                best = []
                for evidence in ranking:
                    name, title, text = evidence["passage"]  # type: ignore[typeddict-item]
                    best.append(FoundPassage(name, evidence["score"], title, text))
                yield _padded(question, index, best, top)
            advance(len(part))


def candidate_evidences(index: PassageIndex, question: str, number: int) -> list[Evidence]:
    """Return the best passages as evidences with their BM25 score, and `passage` (id, title, text)."""
    hits, passages = index.find(question, number)
    return [
        {  # type: ignore[typeddict-unknown-key]
            "evidence_text": passage_text(passage.title, passage.text),
            "source": "text",
            "disambiguations": [],
            "wikidata_entities": [],
            "score": hit.score,
            "passage": (passage.id, passage.title, passage.text),
        }
        for hit, passage in zip(hits, passages, strict=True)
    ]


def passage_text(title: str | None, text: str) -> str:
    """Return a passage as one text that begins with its title, as Wikipedia evidences do."""
    return f"{title}, {text}" if title and title.strip() else text


def _padded(question: SearchQuestion, index: PassageIndex, best: Sequence[FoundPassage], top: int) -> PassageRanking:
    whole = min(top, len(index))
    if len(best) >= whole:
        return PassageRanking(question, best)
    ids = {passage.id for passage in best}
    fillers = [passage.id for passage in index.passages(range(whole)) if passage.id not in ids]
    return PassageRanking(question, best, fillers[: whole - len(best)])


def by_set(questions: Sequence[SearchQuestion]) -> dict[str, int]:
    """Return the number of questions of each set, by its name."""
    return dict(sorted(Counter(question.set or "" for question in questions).items()))
