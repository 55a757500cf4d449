"""HotpotQA (Yang et al., EMNLP 2018) and data sets in its shape, such as 2WikiMultihopQA: a JSON list, or JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec

from ...support.errors import DataError
from ...support.jsonlines import read_documents
from ..converters import Answer, Converter, Dataset, Document, Part, Question, Record, register

_KNOWN = ("_id", "id", "question", "answer", "context", "supporting_facts")


@register("hotpotqa")
class HotpotQA(Converter):
    """Questions on several documents, given as titles with lists of sentences.

    A context is a list of pairs (`[["title", ["sentence", ...]], ...]`). Supporting facts become `supporting_context`, other keys (`type`,
    `level`, ...) the question's `metadata`. The texts of unlabelled questions are read as well.
    """

    def read(self, path: Path) -> Dataset:
        """Read a context for each question."""
        return Dataset("HotpotQA", "", _records(path))


def _records(path: Path) -> Iterator[Record]:
    for line, value in read_documents(path, dict[str, Any], unwrap=True):
        try:
            yield _record(value)
        except (msgspec.ValidationError, KeyError, ValueError) as error:
            reason = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
            raise DataError(f"{path}:{line}: no question of HotpotQA: {reason}") from None


def _record(value: dict[str, Any]) -> Record:
    paragraphs = msgspec.convert(value["context"], list[tuple[str, list[str]]])
    facts = msgspec.convert(value.get("supporting_facts") or [], list[tuple[str, int]])
    starts = [[0, *accumulate(map(len, sentences))] for _, sentences in paragraphs]
    documents = [
        Document(
            [Part("title", title), Part("text", "".join(sentences))],
            {"metadata": {"text": {"sentence_start_bytes": begins[:-1]}}},
        )
        for (title, sentences), begins in zip(paragraphs, starts, strict=True)
    ]
    numbers = {title: number for number, (title, _) in reversed(list(enumerate(paragraphs)))}
    supporting = [
        {"doc_id": numbers[title], "part": "text", "start_byte": starts[numbers[title]][index],
         "text": paragraphs[numbers[title]][1][index]}
        for title, index in facts
        if title in numbers and 0 <= index < len(paragraphs[numbers[title]][1])  # some point behind the last sentence
    ]  # fmt: skip
    metadata = {key: part for key, part in value.items() if key not in _KNOWN}
    extras = {key: part for key, part in (("metadata", metadata), ("supporting_context", supporting)) if part}
    text = msgspec.convert(value["question"], str)
    qid = str(msgspec.convert(value["_id"] if "_id" in value else value["id"], str | int))
    answer = msgspec.convert(value.get("answer"), str | None)
    answers = [Answer(answer, extras={"type": "yesno"} if answer in ("yes", "no") else {})] if answer else []
    return Record(documents, [Question(qid, text, answers=answers, extras=extras)], qid)
