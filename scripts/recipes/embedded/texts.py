"""Paragraphs, sentences, forum answers and whole documents with questions: which support an answer, which state a fact."""

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recipes.embedded.examples import Candidate, Example, Spans
from recipes.embedded.negatives import by_bm25, holds, negatives, part_of, parts_with_texts
from recipes.embedded.reading import MOST_ANSWER_WORDS, keys_with_reading
from recipes.embedded.spans import cut, sentence_borders, standing, untokenised
from recipes.embedded.wikidata import property_labels
from recipes.sources import records

_MOST_CHARACTERS = 1000
_NEGATIVES = 4
# kinds of entities of Re-DocRED as the last slot of a representation names them
_SLOT_TYPES = {"PER": "person", "LOC": "place", "TIME": "date", "NUM": "number"}


# -- several paragraphs ------------------------------------------------------------------------------------------------


def multihop_paragraphs(data: Path, seed: int) -> Iterator[Example]:
    """HotpotQA, 2WikiMultihopQA and MuSiQue: supporting paragraphs against distracting ones; ranked, not read."""
    chance = random.Random(f"multihop_paragraphs {seed}")
    lines = list(records(data, "hybrid", "multihop-paragraphs.jsonl.gz"))
    paragraphs = [(paragraph["title"], paragraph["text"]) for line in lines for paragraph in line["paragraphs"]]
    # in `reading` the title stands in front of each line
    keys = keys_with_reading(data, ((title, form) for title, text in paragraphs for form in (text, f"{title}: {text}")))
    for line in lines:
        held = [paragraph for paragraph in line["paragraphs"] if paragraph["title"] in keys]
        pages = [keys[page["title"]] for page in held if page["supporting"]]
        if not pages:
            continue
        key = pages[0]
        part = part_of("multihop_paragraphs", key)
        right: dict[str, None] = {}
        wrong: dict[str, None] = {}
        for page in held:
            if part_of("multihop_paragraphs", keys[page["title"]]) == part:
                text = cut(f"{page['title']}, {page['text']}", 0, 1, chance, _MOST_CHARACTERS)[0]
                (right if page["supporting"] else wrong)[text] = None
        left = [text for text in by_bm25(line["question"], list(wrong)) if text not in right]
        if left:
            candidates = (*(Candidate(text, True, readable=False) for text in right), *negatives(left))
            yield Example(line["question"], candidates, "multihop_paragraphs", key, f"multihop_paragraphs:{key}")


# -- facts and the sentences that state them ---------------------------------------------------------------------------


def redocred(data: Path, seed: int) -> Iterator[Example]:
    """Re-DocRED: a fact as a representation (`|| subject || property || type`), and the sentence that states it."""
    labels = property_labels(data)
    lines = list(records(data, "hybrid", "redocred.jsonl.gz"))
    sentences = ((line["title"], " ".join(tokens)) for line in lines for tokens in line["sentences"])
    keys = keys_with_reading(data, sentences)
    for line in lines:
        if line["title"] in keys:
            yield from _of_introduction(line, labels, keys[line["title"]])


def _of_introduction(line: dict[str, Any], labels: dict[str, str], key: str) -> Iterator[Example]:
    lead, entities = f"{line['title']}, ", line["entities"]
    moved = [untokenised(" ".join(tokens)) for tokens in line["sentences"]]
    texts = [lead + text for text, _ in moved]

    def spans(entity: int, sentence: int) -> list[tuple[int, int]]:
        places = []
        for mention in entities[entity]["mentions"]:
            if mention["sentence"] == sentence:
                first, end = mention["tokens"]
                tokens = line["sentences"][sentence]
                start = sum(len(token) + 1 for token in tokens[:first])
                stop = start + len(" ".join(tokens[first:end]))
                begin, close = moved[sentence][1](start, stop)
                places.append((begin + len(lead), close + len(lead)))
        return sorted(set(places))

    def name(entity: int) -> str:
        mention = entities[entity]["mentions"][0]
        return untokenised(" ".join(line["sentences"][mention["sentence"]][slice(*mention["tokens"])]))[0]

    stated: dict[tuple[int, str], list[dict[str, Any]]] = defaultdict(list)
    for fact in line["facts"]:
        stated[fact["subject"], fact["property"]].append(fact)
    for (subject, prop), facts in stated.items():
        places: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for fact in facts:
            if len(fact["evidence"]) == 1:
                places[fact["evidence"][0]] += spans(fact["object"], fact["evidence"][0])
        objects = {fact["object"] for fact in facts}
        mentioning = {mention["sentence"] for entity in objects for mention in entities[entity]["mentions"]}
        mentioning |= {sentence for fact in facts for sentence in fact["evidence"]}
        right = {texts[sentence]: tuple(sorted(set(spans_of))) for sentence, spans_of in places.items() if spans_of}
        wrong = [text for place, text in enumerate(texts) if place not in mentioning and text not in right]
        if prop in labels and right and wrong:
            kinds = {_SLOT_TYPES.get(entities[entity]["type"], "") for entity in objects}
            query = " || ".join(("", name(subject), labels[prop], kinds.pop() if len(kinds) == 1 else ""))
            best = negatives(by_bm25(query, wrong)[:_NEGATIVES])
            candidates = (*(Candidate(text, True, span) for text, span in right.items()), *best)
            yield Example(query, candidates, "redocred", key, f"redocred:{key}")


# -- forum answers and news --------------------------------------------------------------------------------------------


def doqa(data: Path, seed: int) -> Iterator[Example]:
    """DoQA: questions of conversations about a forum's answer; the question follows the first and the last turn."""
    rows: list[tuple[str, str, Spans]] = []
    for line in records(data, "hybrid", "doqa.jsonl.gz"):
        for question in line["questions"]:
            answer, spans = question.get("answer", ""), ()
            if not answer and not question.get("answerable"):
                continue
            if answer and len(answer.split()) <= MOST_ANSWER_WORDS:
                spans = ((question["answer_start"], question["answer_start"] + len(answer)),)
            turns = dict.fromkeys((*question["history"][:2], *question["history"][-2:]))
            rows.append((" ".join((*turns, question["question"])), line["context"], spans))
    for of_part, find in parts_with_texts("doqa", rows, lambda row: row[1], lambda row: [row[1]], seed):
        for query, text, spans in of_part:
            candidates = (Candidate(text, True, spans, readable=bool(spans)), *find(query, 3, {text}))
            yield Example(query, candidates, "doqa", text, f"doqa:{text}")


def onestopqa(data: Path, seed: int) -> Iterator[Example]:
    """OneStopQA: the sentences of a paragraph of news that an annotator marked as evidence, against its other ones."""
    for line in records(data, "hybrid", "onestopqa.jsonl.gz"):
        context, start = line["context"], line["evidence_start"]
        end = start + len(line["evidence"])
        borders = list(sentence_borders(context))
        sentences = list(zip(borders, borders[1:], strict=False))
        right = [context[a:b].strip() for a, b in sentences if a < end and start < b]
        wrong = [context[a:b].strip() for a, b in sentences if b <= start or end <= a]
        wrong = [text for text in dict.fromkeys(wrong) if text and not holds(text, [line["answer"]])]
        if wrong:
            evidence = " ".join(right)
            places = tuple(standing(line["answer"].strip(" ."), evidence, 0, len(evidence)))
            spans = places if len(places) == 1 else ()
            best = negatives(by_bm25(line["question"], wrong)[:_NEGATIVES])
            candidates = (Candidate(evidence, True, spans, readable=bool(spans)), *best)
            yield Example(line["question"], candidates, "onestopqa", line["title"], f"onestopqa:{line['title']}")
