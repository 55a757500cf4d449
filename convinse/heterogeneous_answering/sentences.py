"""The sentences that answers are taken from: whole ones for a way, a reason or what a thing is, and those that decide on yes or no."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ..language.read_evidence import ReadEvidence, is_code
from ..language.text import fold
from ..records.conversation import RankedAnswer, Turn
from ..records.evidence import Entity, Predicate, passage_start, with_score
from ..records.evidence_structure import structured
from ..records.facts import fact_evidence
from ..records.literals import is_document_item
from ..wikipedia.page import sentence_places
from .question import Question
from .ranked_answers import AnswerCandidate

# probability of an answer of no kind that is asked for, below which the sentence with it is given: none of 11 such was right over the files of
# `choose` and `lists` (at .4 one of 16), and on 642 messages of doc2dial that had no say F1 is .221 with and .213 without it
_UNSURE = 0.2
# Probability of the text that says what a thing is. It is too low rather than too high: of 23 questions to choose by and of 24 others that had
# no say all are right with it (by reading alone 4 were right and likely enough).
_DEFINED = 0.9
_WORD = re.compile(r"[\w-]+")
_DIGITS = re.compile(r"\d+(?:(?:\\\.|,)\d+)*")
_NUMBER = r"\d+(?:[.,]\d+)*"
_NAME = re.compile(r"\b[A-Z][a-z]+")
_DESCRIPTION: Predicate = {"id": "description", "label": "description"}
# words before the verb of such a sentence, more than the name has ("Sir", "usually called"): of 100 first sentences of embedded pages that say
# what something is 99 have no more, and the other one says what something else is
_LONGEST_HEAD = 8


def with_definition(
    turn: Turn, question: Question, ranked: Sequence[AnswerCandidate], sources: Sequence[str]
) -> tuple[Question, list[AnswerCandidate]]:
    """Put before ranked answers what a thing is, if the question asks no more: "tell me about Coldplay".

    The first sentence that says so is taken, else the thing's description in the knowledge base, which becomes an evidence of the
    turn. The answer has the id of the thing, or its name.

    Returns:
        The question with the evidence, and the answers.
    """
    name = question.language.steps.identified(question.in_full)
    if not name or question.unlinked:
        return question, [*ranked]
    form = question.language.words.without_article(fold(name))
    ids = {candidate.id for candidate in question.items.candidates(form)}
    about = [entity for entity in question.about if entity["id"] in ids]
    definition = _definition(question, name, {entity["id"] for entity in about})
    if definition is None and "kb" in sources and len(about) == 1:
        description = question.items.description(about[0]["id"])
        if description:
            value: Entity = {"id": description, "label": description}
            evidence = with_score(fact_evidence((about[0], _DESCRIPTION, value), about[0]), 0.0)
            turn["top_evidences"] = [*turn["top_evidences"], evidence]
            read = ReadEvidence(structured(evidence), question.language)
            question = replace(question, evidences=[*question.evidences, read])
            definition = description, len(question.evidences) - 1
    if definition is None:
        return question, [*ranked]
    text, place = definition
    thing = about[0]["id"] if len(about) == 1 and not is_document_item(about[0]["id"]) else name
    first = AnswerCandidate({"id": thing, "label": text}, _DEFINED, (place,), ("definition",))
    return question, [first, *(answer._replace(score=answer.score * (1 - _DEFINED)) for answer in ranked)]


def _definition(question: Question, name: str, about: AbstractSet[str]) -> tuple[str, int] | None:
    """Return the first sentence that says what a name means, with the place of its evidence; of files one that begins with the name."""
    keywords, defining = question.language.properties.keywords, question.language.steps.defining
    words = keywords(name)
    for place, read in enumerate(question.evidences if words else ()):
        is_about = any(entity["id"] in about for entity in read.entities[:1])
        if read.evidence["source"] != "text" or not (is_about or read.is_of_document):
            continue
        for start, end in sentence_spans(read):
            sentence = read.text[start:end]
            verb = defining.search(sentence)
            head = sentence[: verb.start()] if verb else ""
            if verb is None or len(head.split()) > len(name.split()) + _LONGEST_HEAD:
                continue
            shared = words & keywords(head)
            if 2 * len(shared) >= len(words) if is_about else words == keywords(head):
                return sentence, place
    return None


def with_period(question: Question, ranked: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return ranked answers; the first becomes the period of a passage of a file whose end it is: "1 April to 30 September".

    "Until when" asks for its end, "since when" for its beginning.
    """
    if not ranked or not ranked[0].places or not is_prose(question.evidences[ranked[0].places[0]]):
        return [*ranked]
    (first, *others), times, words = ranked, question.language.times, fold(question.in_full).split()
    is_asked = not times.while_.isdisjoint(words[:2])
    # "when does it begin?"
    is_for_end = not question.language.words.doing.isdisjoint(words) and times.lasting.isdisjoint(words)
    if not is_asked or (is_for_end and times.until.isdisjoint(words)):
        return [*ranked]
    part = "last" if words[0] in times.until else "first" if words[0] in times.since else 0
    for period in times.period.finditer(question.evidences[first.places[0]].text):
        is_end = first.entity["label"] in (period["first"], period["last"])
        # of "9 am to 8 pm for two hours a day" no more than that
        if is_end or first.entity["label"].startswith(f"{period['first']} "):
            return [first._replace(entity={"id": period[part], "label": period[part]}), *others]
    return [*ranked]


def with_clause(question: Question, ranked: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return ranked answers; the value that a reader marked is taken from the clause of its sentence that has the last words of a question.

    "The water is turned on on 28 March and turned off on 31 October", "92 % at 4 °C, at room temperature only 38 %".
    """
    if not ranked or ranked[0].reasons[:1] != ("reader",) or not is_prose(question.evidences[ranked[0].places[0]]):
        return [*ranked]
    first, *others = ranked
    read, label = question.evidences[first.places[0]], first.entity["label"]
    span = next((span for span in sentence_spans(read) if label in read.text[slice(*span)]), None)
    clauses = question.language.words.clauses.split(read.text[slice(*span)]) if span else []
    place_of_label = next((place for place, clause in enumerate(clauses) if label in clause), len(clauses))
    words = _telling_words(question, question.in_full)
    said = [_telling_words(question, clause) for clause in clauses]
    firsts = {word: place for place, those in reversed([*enumerate(said)]) for word in those & words}
    last = max(firsts.values(), default=0)
    values = _values_like(label, clauses[last], question) if place_of_label < last else []
    if len(values) != 1:
        return [*ranked]
    return [first._replace(entity={"id": values[0], "label": values[0]}), *others]


def _telling_words(question: Question, text: str) -> frozenset[str]:
    """Return the keywords of a text, and the particles that tell its verbs apart."""
    return question.language.properties.keywords(text) | question.language.words.particles & {*fold(text).split()}


def _values_like(label: str, text: str, question: Question) -> list[str]:
    """Return the values in a text that are written as a value is, with other digits and capitalised words: "31 October" for "28 March"."""
    if question.language.times.hour.fullmatch(label):
        return [hour[0] for hour in question.language.times.hour.finditer(text)]
    if not any(map(str.isdigit, label)):
        return []
    form = _NAME.sub("[A-Z][a-z]+", _DIGITS.sub("\0", re.escape(label))).replace("\0", _NUMBER)
    return re.findall(rf"(?<![\w.,]){form}(?!\w)", text)


def with_sentence(question: Question, ranked: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return ranked answers; the first one becomes the sentence of the passage that has it, if the question asks how, why or what if.

    Likewise if it asks for no kind of thing and the answer is improbable.
    """
    if not ranked or not ranked[0].places:
        return [*ranked]
    first, *others = ranked
    is_open = bool(question.language.operations.explaining.search(question.in_full)) or (
        question.expected.kind == "any" and first.score < _UNSURE and not first.is_listed
    )
    read = question.evidences[first.places[0]]
    if is_prose(read) and (sentence := _sentence_of_code(question, read, first.entity["label"])):
        return [first._replace(entity={"id": sentence, "label": sentence}), *others]
    if not is_open or not is_prose(read):
        return [*ranked]
    sentences, keywords = sentence_spans(read), question.language.properties.keywords
    place = read.text.find(first.entity["label"], sentences[0][0] if sentences else 0)
    for start, end in sentences:
        if place < end:
            # "what does it say about dogs?": a sentence without a word of the question yields to one with most of them
            words = keywords(question.in_full)
            is_said = not words.isdisjoint(keywords(read.text[start:end]))
            start, end = (start, end) if is_said else best_sentence(question, read, words)
            sentence = read.text[start:end].rpartition("? ")[2]  # "What should I bring? A towel."
            return [first._replace(entity={"id": sentence, "label": sentence}), *others]
    return [*ranked]


def _sentence_of_code(question: Question, read: ReadEvidence, answer: str) -> str:
    """Return the sentence with the code that a question names, if its answer is in another one: what is said of E-07 says nothing of E-03."""
    codes = [fold(word) for word in _WORD.findall(question.in_full) if is_code(word.upper())]
    texts = [read.text[start:end] for start, end in sentence_spans(read)] if codes else []
    coded = [text for text in texts if all(code in fold(text) for code in codes)]
    return "" if not coded or any(answer in text for text in coded) else coded[0]


def mark_verdict(question: Question, answers: Sequence[RankedAnswer]) -> None:
    """Give yes or no the sentence of a document that decides: that of the first evidence with most words of the question."""
    for answer in answers:
        for place in answer.get("evidences", ())[:1]:
            read, words = question.evidences[place], question.language.properties.keywords(question.in_full)
            start, end = best_sentence(question, read, words) if is_prose(read) else (0, 0)
            if start < end:
                answer["spans"] = [{"evidence": place, "start": start, "end": end}]


def best_sentence(question: Question, read: ReadEvidence, words: AbstractSet[str]) -> tuple[int, int]:
    """Return start and end of the sentence of a passage of a file that has most of some keywords; 0 and 0 without one.

    Of several the one whose meaning is nearest to the question. A question goes with the sentence behind it, which answers it.
    """
    keywords, spans = question.language.properties.keywords, sentence_spans(read)
    texts = [read.text[slice(*span)] for span in spans]
    shared = [len(words & keywords(text)) for text in texts]
    best = [place for place, number in enumerate(shared) if number == max(shared)]
    if not best:
        return 0, 0
    vectors = question.embed([question.in_full, *(texts[place] for place in best)]) if len(best) > 1 else None
    place = best[0] if vectors is None else best[int((vectors[1:] @ vectors[0]).argmax())]
    last = min(place + texts[place].rstrip().endswith("?"), len(spans) - 1)
    return spans[place][0], spans[last][1]


def is_prose(read: ReadEvidence) -> bool:
    """Return True for a passage of a file."""
    return read.is_of_document and read.evidence["source"] == "text"


def sentence_spans(read: ReadEvidence) -> list[tuple[int, int]]:
    """Return start and end of each sentence of an evidence, without its title."""
    if read.is_of_document:
        begin = passage_start(read.evidence, read.entities[0]["label"] if read.entities else "")
    else:
        begin = read.text.find(", ") + 2  # behind the title of the page
    return [(begin + start, begin + end) for start, end in sentence_places(read.text[begin:])]
