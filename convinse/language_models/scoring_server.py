"""A server that scores texts for a question: `/rerank`, or the cosine of `/embeddings`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from ..config import EvsServer
from ..support.errors import NetworkError, one_line
from .model_server import ModelServer, in_flight

_BATCH = 32  # texts of a request, the most that TEI takes by default
_OTHER_FIELDS = (400, 422)  # status of a server that expects `texts`


class _ScoreOfText(msgspec.Struct):
    index: int
    relevance_score: float | None = None  # of Jina and Cohere
    score: float | None = None  # of TEI


class _Embedding(msgspec.Struct):
    index: int
    embedding: list[float]


class ScoringServer:
    """A client that scores texts by the server that some settings name, several requests at once.

    `/rerank` gets `query` and `documents`, as vLLM, Infinity, llama.cpp, Jina and Cohere have it; a server that refuses them
    gets `query` and `texts`, as TEI has it.
    """

    def __init__(self, settings: EvsServer, server: ModelServer) -> None:
        self._settings, self._server = settings, server
        self._field = "documents"

    def relevance(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[np.ndarray]:
        """Return the server's [n] float32 scores of the texts of every question."""
        settings = self._settings
        scores = [np.empty(len(texts), np.float32) for _, texts in pairs]
        work = [(number, start) for number, (_, texts) in enumerate(pairs) for start in range(0, len(texts), _BATCH)]

        def score(piece: tuple[int, int]) -> list[float]:
            question, texts = pairs[piece[0]]
            batch = [settings.prefixes[1] + text for text in texts[piece[1] : piece[1] + _BATCH]]
            return self._reranked(settings.prefixes[0] + question, batch)

        def done(number: int, values: list[float]) -> None:
            place, start = work[number]
            scores[place][start : start + len(values)] = values

        in_flight(work, score, settings.parallel, done)
        return scores

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return [n, d] float32 embeddings of texts, of length 1."""
        work = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        parts: dict[int, list[list[float]]] = {}

        def done(number: int, vectors: list[list[float]]) -> None:
            parts[number] = vectors

        in_flight(work, self._embedded, self._settings.parallel, done)
        rows = [row for number in range(len(work)) for row in parts[number]]
        if len({len(row) for row in rows}) > 1:
            raise NetworkError(f"{self._server.key}: the server's embeddings are of several lengths")
        vectors = np.array(rows, dtype=np.float32)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return vectors

    def _reranked(self, question: str, texts: list[str]) -> list[float]:
        def post(field: str) -> list[float]:
            body = {"model": self._server.model, "query": question, field: texts}
            return self._server.post("rerank", body, lambda value: _read_scores(value, len(texts)))

        field = self._field  # another thread may change it meanwhile
        try:
            return post(field)
        except NetworkError as error:
            if error.status not in _OTHER_FIELDS or field == "texts":
                raise
            try:
                scores = post("texts")
            except NetworkError:
                raise error from None
            self._field = "texts"
            return scores

    def _embedded(self, texts: Sequence[str]) -> list[list[float]]:
        def read(value: Any) -> list[list[float]]:
            try:
                rows = msgspec.convert(value["data"], list[_Embedding])
            except (KeyError, TypeError, msgspec.ValidationError) as error:
                raise ValueError(f"it has no embeddings ({one_line(error)})") from None
            if sorted(row.index for row in rows) != list(range(len(texts))):
                raise ValueError(f"it has {len(rows)} embeddings of {len(texts)} texts")
            return [row.embedding for row in sorted(rows, key=lambda row: row.index)]

        body = {"model": self._server.model, "input": list(texts), "encoding_format": "float"}
        return self._server.post("embeddings", body, read)


def _read_scores(value: Any, number: int) -> list[float]:
    try:
        results = msgspec.convert(value["results"] if isinstance(value, dict) else value, list[_ScoreOfText])
    except (KeyError, msgspec.ValidationError) as error:
        raise ValueError(f"it has no scores ({one_line(error)})") from None
    if sorted(result.index for result in results) != list(range(number)):
        raise ValueError(f"it has {len(results)} scores of {number} texts")
    values = []
    for result in sorted(results, key=lambda result: result.index):
        score = result.score if result.relevance_score is None else result.relevance_score
        if score is None:
            raise ValueError("a score is missing")
        values.append(score)
    return values
