"""What a MultiQA file holds, as typed records (format of Talmor and Berant, ACL 2019, version 0.1.0).

A file is a header and one `Entry` a context. The records have the shape of the published schema: an answer candidate
names the container first (`single_answer`, `list`, `set`), then the type (`extractive`, `yesno`, ...); `dialects` turns
the other spellings into it. Each record has `extra`: what the format does not know is kept there and written back
behind the known keys. A known key whose value is null is kept there too, so that None always means "not in the file".

Offsets: `start_byte` and the offsets of tokens are **character** offsets (Unicode code points), as in all published
samples but the tokens of NaturalQuestions; their name is true in ASCII only.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import msgspec

Token = tuple[str, int] | str  # a token and its character offset; some files give question tokens without offsets
Extra = dict[str, Any]


class MultiqaRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What all records have in common: `extra`, the content that the format does not know."""

    extra: Extra = {}


class MultiqaHeader(MultiqaRecord, frozen=True, kw_only=True):
    """The first document of a file: what the data set is, and how much the file holds."""

    dataset_name: str | None = None
    split: str | None = None
    dataset_url: str | None = None
    license: str | None = None
    data_source: str | None = None
    context_answer_detection_source: str | None = None
    tokenization_source: str | None = None
    text_type: str | None = None
    readme: str | None = None
    multiqa_version: str | None = None
    number_of_contexts: int | None = None
    number_of_qas: int | None = None
    number_of_qas_with_gold_answers: int | None = None


class Instance(MultiqaRecord, frozen=True, kw_only=True):
    """Where an answer (or a supporting sentence) stands.

    Attributes:
        doc_id: the number of the document in the context, from 0.
        part: the key of the document's text: `text`, `title` or `snippet`.
        start_byte: the character offset in that part.
        text: the words there; data sets with aliases give the answer's spelling instead.
        token_inds: the first and the last token of the part (both inside the span).
    """

    doc_id: int | None = None
    part: str | None = None
    start_byte: int | None = None
    text: str | None = None
    token_inds: tuple[int, int] | None = None


class Extractive(MultiqaRecord, frozen=True, kw_only=True):
    """A span answer: its main spelling, other spellings, and where it stands in the documents."""

    answer: str | None = None
    aliases: list[str] | None = None
    instances: list[Instance] | None = None

    def spellings(self) -> list[str]:
        """The answer and its aliases, each once."""
        return list(dict.fromkeys([*([] if self.answer is None else [self.answer]), *(self.aliases or [])]))


class Date(MultiqaRecord, frozen=True, kw_only=True):
    """A date in words and numbers, as the data set writes them (`April`, `23`, `1734`); parts may be missing."""

    day: str | None = None
    month: str | None = None
    year: str | None = None

    def __str__(self) -> str:
        """`23 April 1734`."""
        return " ".join(part for part in (self.day, self.month, self.year) if part)


class MultiqaAnswer(MultiqaRecord, frozen=True, kw_only=True):
    """One answer in one or more types; a model has to match one of them."""

    extractive: Extractive | None = None
    yesno: Literal["yes", "no"] | None = None
    generated_text: str | None = None
    date: Date | str | None = None
    number: int | float | None = None

    def texts(self) -> list[str]:
        """All spellings of the answer as text, the main one of each type first."""
        spellings = self.extractive.spellings() if self.extractive else []
        values = (self.yesno, self.generated_text, self.date, self.number)
        texts = [*spellings, *(str(value) for value in values if value is not None)]
        return list(dict.fromkeys(filter(None, texts)))


class MultiqaCandidate(MultiqaRecord, frozen=True, kw_only=True):
    """What one annotator answers: one answer, a list (any order) or a set (the format's word for an ordered list).

    A candidate without any of them carries only metadata (NaturalQuestions: an annotator who marked a paragraph and
    no short answer); `metadata` is free.
    """

    single_answer: MultiqaAnswer | None = None
    list_answer: list[MultiqaAnswer] | None = msgspec.field(default=None, name="list")
    set_answer: list[MultiqaAnswer] | None = msgspec.field(default=None, name="set")
    metadata: Any = None

    def answers(self) -> list[MultiqaAnswer]:
        """The answers of all containers."""
        single = [self.single_answer] if self.single_answer else []
        return [*single, *(self.list_answer or []), *(self.set_answer or [])]


class OpenEnded(MultiqaRecord, frozen=True, kw_only=True):
    """Answers in words: one candidate an annotator, the main one first; or that there is no answer."""

    cannot_answer: Literal["yes", "no"] | None = None
    annotators_answer_candidates: list[MultiqaCandidate] | None = None


class MultiChoice(MultiqaRecord, frozen=True, kw_only=True):
    """Answers to choose from, and the number of the right one (from 0) or of all right ones."""

    correct_answer_index: int | None = None
    multi_correct_answer_indexes: list[int] | None = None
    choices: list[MultiqaCandidate] | None = None

    def correct(self) -> list[int]:
        """The numbers of the right choices."""
        single = [] if self.correct_answer_index is None else [self.correct_answer_index]
        return list(dict.fromkeys([*single, *(self.multi_correct_answer_indexes or [])]))


class MultiqaAnswers(MultiqaRecord, frozen=True, kw_only=True):
    """The answers of a question, in words or to choose from."""

    open_ended: OpenEnded | None = msgspec.field(default=None, name="open-ended")
    multi_choice: MultiChoice | None = msgspec.field(default=None, name="multi-choice")


class MultiqaQuestion(MultiqaRecord, frozen=True, kw_only=True):
    """A question on a context."""

    qid: str
    question: str
    question_tokens: list[Token] | None = None
    supporting_context: list[Instance] | None = None
    metadata: Any = None
    answers: MultiqaAnswers | None = None

    def candidates(self) -> list[MultiqaCandidate]:
        """The right answers: the annotators' candidates and the right choices (a wrong number is left out)."""
        open_ended = self.answers.open_ended if self.answers is not None else None
        multi_choice = self.answers.multi_choice if self.answers is not None else None
        candidates = list(open_ended.annotators_answer_candidates or []) if open_ended is not None else []
        if multi_choice is not None:
            choices = multi_choice.choices or []
            candidates += [choices[index] for index in multi_choice.correct() if 0 <= index < len(choices)]
        return candidates

    def cannot_answer(self) -> bool:
        """Whether the question is marked as having no answer."""
        return self.answers is not None and self.answers.open_ended is not None and (
            self.answers.open_ended.cannot_answer == "yes"
        )  # fmt: skip

    def is_answered(self) -> bool:
        """Whether there is a gold answer: one in a candidate, or that there is none."""
        return self.cannot_answer() or any(candidate.answers() for candidate in self.candidates())


class MultiqaDocument(MultiqaRecord, frozen=True, kw_only=True):
    """A document of a context; its parts are `title`, `text` and `snippet`.

    Attributes:
        table: rows of cells `{"text", "links"}`. image: `{"url", "caption", "title"}`.
        metadata: by part, such as `sentence_start_bytes`, the character offsets of sentences. tokens: by part.
    """

    title: str | None = None
    text: str | None = None
    snippet: str | None = None
    url: str | None = None
    table: Any = None
    image: Any = None
    metadata: dict[str, Any] | None = None
    tokens: dict[str, list[Token]] | None = None

    def part(self, name: str | None) -> str | None:
        """The text of a part, known to the format or not."""
        value = getattr(self, name) if name in ("title", "text", "snippet", "url") else self.extra.get(name or "")
        return value if isinstance(value, str) else None


class Context(MultiqaRecord, frozen=True, kw_only=True):
    """The documents that questions are asked on."""

    documents: list[MultiqaDocument]


class Entry(MultiqaRecord, frozen=True, kw_only=True):
    """One line of a file: a context with its questions."""

    id: str | int
    context: Context
    qas: list[MultiqaQuestion]


@cache
def keys(kind: type[MultiqaRecord]) -> frozenset[str]:
    """The keys of a record as they stand in a file."""
    return frozenset(kind.__struct_encode_fields__) - {"extra"}


def plain(value: Any) -> Any:
    """A record as JSON-shaped data in the published schema's shape: known keys in a fixed order, then the unknown."""
    if isinstance(value, MultiqaRecord):
        known = {
            name: plain(part)
            for field, name in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
            if field != "extra" and (part := getattr(value, field)) is not None
        }
        return {**known, **{name: part for name, part in value.extra.items() if name not in known}}
    if isinstance(value, list) and value and isinstance(value[0], MultiqaRecord):
        return [plain(part) for part in value]
    return value
