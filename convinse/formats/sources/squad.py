"""SQuAD 1.1 and 2.0 files from and into neutral records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .. import squad
from ..converters import Answer, Dataset, Format, Question, Record, Span, register
from ..neutral import FlatText, flatten, locate, question_id, titled
from ..records import taken

_ACCEPTED = "accepted_answers"  # our key for accepted strings without a place
_NOT_FOUND = f"answerable questions without an answer in the context (strings kept as {_ACCEPTED})"


@register("squad")
class Squad(Format):
    """SQuAD 1.1 and 2.0 (read; KorQuAD 1.0 and KLUE-MRC too), SQuAD 2.0 (written).

    SQuAD has no place for an answer that is not in the context: such strings are written as `accepted_answers` beside
    the question's other keys, and read back. The title is that of the document, the other keys of an article are the
    document's. The name of the data set and its part are written as `dataset` and `split` beside `version`.
    """

    def read(self, path: Path) -> Dataset:
        """Read the paragraphs of a file as documents with a title and a text."""
        data, paragraphs = squad.read_squad(path)
        extras = dict(data.extras)
        name, split = taken(extras, "dataset", "split")
        return Dataset(name or path.name.partition(".json")[0], split, _records(paragraphs), extras)

    def write(self, path: Path, dataset: Dataset, counts: Counter[str]) -> None:
        """Write a JSON document record by record; neighbours with the same title become an article."""
        extras = {key: value for key, value in (("dataset", dataset.name), ("split", dataset.split)) if value}
        paragraphs = ((_article(record, dataset.name), _paragraph(record, counts)) for record in dataset.records)
        squad.write_squad(path, paragraphs, extras={**dataset.extras, **extras})


def _records(paragraphs: Iterator[tuple[squad.Article, squad.Paragraph]]) -> Iterator[Record]:
    for article, paragraph in paragraphs:
        document = titled(article.title, paragraph.context, extras=article.extras)
        extras = dict(paragraph.extras)
        (context_id,) = taken(extras, "id")
        questions = [_neutral_question(question) for question in paragraph.qas]
        yield Record([document], questions, context_id, extras)


def _neutral_question(question: squad.SquadQuestion) -> Question:
    extras = dict(question.extras)
    accepted = extras.get(_ACCEPTED)
    if isinstance(accepted, list) and all(isinstance(text, str) for text in accepted):
        del extras[_ACCEPTED]
    else:
        accepted = []
    answers = [
        Answer(answer.text, [Span(answer.answer_start, answer.text)] if answer.answer_start >= 0 else [], answer.extras)
        for answer in question.answers
    ]
    return Question(question.id, question.question, None, answers, accepted, question.is_impossible, extras)


def _article(record: Record, default: str) -> squad.Article:
    if len(record.documents) != 1:
        return squad.Article([], default)
    title = record.documents[0].part("title")
    return squad.Article([], title.text if title is not None else default, record.documents[0].extras)


def _paragraph(record: Record, counts: Counter[str]) -> squad.Paragraph:
    flat = flatten(record)
    counts["contexts"] += 1
    questions = []
    for question in record.questions:
        written = _question(question, flat)
        counts["questions"] += 1
        if written.is_impossible:
            counts["unanswerable questions"] += 1
        elif not written.answers:
            counts[_NOT_FOUND] += 1
        questions.append(written)
    extras = dict(record.extras)
    if record.id:
        extras["id"] = record.id
    if len(record.documents) > 1 and any(document.extras for document in record.documents):
        extras["documents"] = [document.extras for document in record.documents]
    return squad.Paragraph(flat.text, questions, extras)


def _question(question: Question, flat: FlatText) -> squad.SquadQuestion:
    answers = []
    if not question.unanswerable:
        answers = [
            squad.SquadAnswer(flat.text[start : end + 1], start, answer.extras)
            for answer, spans in locate(question, flat)
            for start, end in spans
        ]
    extras = dict(question.extras)
    written = {answer.text for answer in answers}
    texts = question.texts()
    if not written.issuperset(texts):
        extras[_ACCEPTED] = texts
    return squad.SquadQuestion(
        question.text, question.id or question_id(question.text, flat.text), answers, question.unanswerable, extras
    )
