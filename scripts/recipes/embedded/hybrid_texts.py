"""Paragraphs, sentences and forum answers with questions: what supports an answer, what states a fact."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec

from convinse.language.language import english
from convinse.support.errors import DataError
from convinse.support.jsonlines import read_lines
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.hybrid_tables import standing
from recipes.embedded.negatives import holds, negatives, part_of, parts_with_texts
from recipes.embedded.reading_files import keys_with_reading
from recipes.embedded.reading_sets import MOST_ANSWER_WORDS
from recipes.embedded.sample_sets import cut, sentence_borders
from recipes.embedded.untokenise import untokenised
from recipes.embedded.wikidata import property_labels
from recipes.sources import needed

_MOST_CHARACTERS = 1000
_NEGATIVES = 4
# kinds of entities of Re-DocRED as the last slot of a representation names them
_SLOT_TYPES = {"PER": "person", "LOC": "place", "TIME": "date", "NUM": "number"}


# -- several paragraphs ------------------------------------------------------------------------------------------------


class _Paragraph(msgspec.Struct):
    title: str
    text: str
    supporting: bool


class _Hops(msgspec.Struct):
    question: str
    paragraphs: list[_Paragraph]


def multihop_paragraphs(data: Path, seed: int) -> Iterator[Example]:
    """HotpotQA, 2WikiMultihopQA and MuSiQue: supporting paragraphs against distracting ones; ranked, not read.

    The key is the page of the first supporting paragraph; `reading/multihop-supporting` has most of these paragraphs,
    in the same part. A paragraph is a candidate only where its own page is in the part of the example, so that a page is
    in one part even where examples of several pages share it. The title stands in front of a text, as in evidences.
    """
    chance = random.Random(f"multihop_paragraphs {seed}")
    lines = [line for _, line in read_lines(needed(data, "hybrid", "multihop-paragraphs.jsonl.gz"), _Hops)]
    paragraphs = [paragraph for line in lines for paragraph in line.paragraphs]
    # in `reading` the title stands in front of each line
    keys = keys_with_reading(
        data, ((given.title, text) for given in paragraphs for text in (given.text, f"{given.title}: {given.text}"))
    )
    for line in lines:
        known = [paragraph for paragraph in line.paragraphs if paragraph.title in keys]
        pages = [keys[paragraph.title] for paragraph in known if paragraph.supporting]
        if not pages:
            continue
        part = part_of("multihop_paragraphs", pages[0])
        right: dict[str, None] = {}
        wrong: dict[str, None] = {}
        for paragraph in known:
            if part_of("multihop_paragraphs", keys[paragraph.title]) == part:
                text = cut(f"{paragraph.title}, {paragraph.text}", 0, 1, chance, _MOST_CHARACTERS)[0]
                (right if paragraph.supporting else wrong)[text] = None
        order = english().bm25.order(line.question, list(wrong)) if wrong else []
        left = [text for place, _ in order if (text := list(wrong)[place]) not in right]
        if left:
            relevant = (Candidate(text, True, readable=False) for text in right)
            key = pages[0]
            candidates = (*relevant, *negatives(left))
            yield Example(line.question, candidates, "multihop_paragraphs", key, f"multihop_paragraphs:{key}")


# -- facts and the sentences that state them ---------------------------------------------------------------------------


class _EntityMention(msgspec.Struct):
    sentence: int
    tokens: tuple[int, int]


class _Named(msgspec.Struct):
    type: str
    mentions: list[_EntityMention]


class _Stated(msgspec.Struct):
    subject: int
    property: str
    object: int
    evidence: list[int]


class _Introduction(msgspec.Struct):
    title: str
    sentences: list[list[str]]
    entities: list[_Named]
    facts: list[_Stated]


def redocred(data: Path, seed: int) -> Iterator[Example]:
    """Re-DocRED: a fact as a representation (`|| subject || property || type`), and the sentence that states it.

    Facts that one sentence states alone are used, those of one subject and property together. The mentions of the object
    are the spans. Other sentences of the introduction that do not mention the object are the negatives, best by BM25.
    The key is the page, whose title stands in front of a sentence, as in evidences.

    Args:
        data: the shared data; names of properties are those of wikidata-27k.
        seed: nothing is drawn.
    """
    path = needed(data, "hybrid", "redocred.jsonl.gz")
    labels = property_labels(data)
    lines = list(read_lines(path, _Introduction))
    sentences = ((line.title, " ".join(tokens)) for _, line in lines for tokens in line.sentences)
    keys = keys_with_reading(data, sentences)
    for number, line in lines:
        if line.title not in keys:
            continue
        try:
            yield from _of_introduction(line, labels, keys[line.title])
        except IndexError:
            raise DataError(
                f"{path}:{number}: a fact or mention points to an entity or sentence that is not there"
            ) from None


def _of_introduction(line: _Introduction, labels: dict[str, str], key: str) -> Iterator[Example]:
    lead = f"{line.title}, "
    moved = [untokenised(" ".join(tokens)) for tokens in line.sentences]
    texts = [lead + text for text, _ in moved]

    def spans(entity: int, sentence: int) -> list[tuple[int, int]]:
        places = []
        for mention in line.entities[entity].mentions:
            if mention.sentence == sentence:
                first, end = mention.tokens
                tokens = line.sentences[sentence]
                start = sum(len(token) + 1 for token in tokens[:first])
                stop = start + len(" ".join(tokens[first:end]))
                begin, close = moved[sentence][1](start, stop)
                places.append((begin + len(lead), close + len(lead)))
        return sorted(set(places))

    def name(entity: int) -> str:
        mention = line.entities[entity].mentions[0]
        return untokenised(" ".join(line.sentences[mention.sentence][slice(*mention.tokens)]))[0]

    stated: dict[tuple[int, str], list[_Stated]] = defaultdict(list)
    for fact in line.facts:
        stated[fact.subject, fact.property].append(fact)
    for (subject, prop), facts in stated.items():
        places: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for fact in facts:
            if len(fact.evidence) == 1:
                places[fact.evidence[0]] += spans(fact.object, fact.evidence[0])
        objects = {fact.object for fact in facts}
        mentioning = {mention.sentence for entity in objects for mention in line.entities[entity].mentions}
        mentioning |= {sentence for fact in facts for sentence in fact.evidence}
        right = {texts[sentence]: tuple(sorted(set(spans_of))) for sentence, spans_of in places.items() if spans_of}
        wrong = [text for place, text in enumerate(texts) if place not in mentioning and text not in right]
        if prop not in labels or not right or not wrong:
            continue
        kinds = {_SLOT_TYPES.get(line.entities[entity].type, "") for entity in objects}
        query = " || ".join(("", name(subject), labels[prop], kinds.pop() if len(kinds) == 1 else ""))
        best = [wrong[place] for place, _ in english().bm25.order(query, wrong)[:_NEGATIVES]]
        candidates = (*(Candidate(text, True, span) for text, span in right.items()), *negatives(best))
        yield Example(query, candidates, "redocred", key, f"redocred:{key}")


# -- forum answers and news --------------------------------------------------------------------------------------------


class _FollowUp(msgspec.Struct):
    history: list[str]
    question: str
    answer: str = ""
    answer_start: int = -1
    answerable: bool = False  # of questions without an answer


class _Thread(msgspec.Struct):
    context: str
    questions: list[_FollowUp]


def doqa(data: Path, seed: int) -> Iterator[Example]:
    """DoQA: questions of conversations about a forum's answer; the question follows the first and the last turn.

    A question with a span is read; one that is only known to be answerable is ranked. Questions that cannot be answered
    have no relevant text and are left out. Negatives are other answers of the forum, the best by BM25.
    """
    path = needed(data, "hybrid", "doqa.jsonl.gz")
    asked: list[tuple[str, str, tuple[tuple[int, int], ...]]] = []
    for number, line in read_lines(path, _Thread):
        for question in line.questions:
            spans: tuple[tuple[int, int], ...] = ()
            if question.answer:
                if question.answer_start < 0 or not line.context.startswith(question.answer, question.answer_start):
                    raise DataError(
                        f"{path}:{number}: '{question.answer}' does not stand where it should in the context"
                    )
                if len(question.answer.split()) <= MOST_ANSWER_WORDS:
                    spans = ((question.answer_start, question.answer_start + len(question.answer)),)
            elif not question.answerable:
                continue
            turns = dict.fromkeys((*question.history[:2], *question.history[-2:]))
            asked.append((" ".join((*turns, question.question)), line.context, spans))
    for own, find in parts_with_texts("doqa", asked, lambda row: row[1], lambda row: [row[1]], seed):
        for query, text, spans in own:
            wrong = find(query, 3, {text})
            candidates = (Candidate(text, True, spans, readable=bool(spans)), *wrong)
            yield Example(query, candidates, "doqa", text, f"doqa:{text}")


class _News(msgspec.Struct):
    title: str
    context: str
    question: str
    answer: str
    evidence_start: int
    evidence: str


def onestopqa(data: Path, seed: int) -> Iterator[Example]:
    """OneStopQA: the sentences of a paragraph of news that an annotator marked as evidence, against its other ones.

    The answer is in an annotator's own words; it is read where it stands in the evidence once. The key is the article,
    which comes in three levels of difficulty.
    """
    path = needed(data, "hybrid", "onestopqa.jsonl.gz")
    for number, line in read_lines(path, _News):
        start, end = line.evidence_start, line.evidence_start + len(line.evidence)
        if start < 0 or line.context[start:end] != line.evidence:
            raise DataError(f"{path}:{number}: the evidence does not stand at character {start} of the context")
        borders = list(sentence_borders(line.context))
        sentences = list(zip(borders, borders[1:], strict=False))
        right = [line.context[a:b].strip() for a, b in sentences if a < end and start < b]
        wrong = [line.context[a:b].strip() for a, b in sentences if b <= start or end <= a]
        wrong = [text for text in dict.fromkeys(wrong) if text and not holds(text, [line.answer])]
        if not wrong:
            continue
        evidence = " ".join(right)
        places = tuple(standing(line.answer.strip(" ."), evidence, 0, len(evidence)))
        spans = places if len(places) == 1 else ()
        best = [wrong[place] for place, _ in english().bm25.order(line.question, wrong)[:_NEGATIVES]]
        candidates = (Candidate(evidence, True, spans, readable=bool(spans)), *negatives(best))
        yield Example(line.question, candidates, "onestopqa", line.title, f"onestopqa:{line.title}")
