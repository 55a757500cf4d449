"""An answer as a sentence with citations, for questions of a few forms: "James Cameron directed Titanic [1]."."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..language.language import Language
from ..language.property_names import PropertyLabel, PropertyNames
from ..language.sentence_templates import SentenceTemplates
from ..language.text import counted, fold, listed
from ..records.conversation import RankedAnswer, Turn
from ..records.evidence import Entity, Evidence, is_of_mail, passage_start
from ..records.literals import is_date, is_number

_LONGEST_PASSAGE = 200  # characters
_NEAR = 4  # words of a sentence between the answer and the word that relates it to the item
_MOST_NAMED = 10  # members of a list in a sentence
_BESIDE_NAME = re.compile(r"\s+\([^()]*\)$")  # "David Lee (screenwriter)"
_BEFORE = re.compile(r"(the(?: [a-z]+)?) ", re.IGNORECASE)  # before a name: "the", "the film"
_DAY = re.compile(r"\d{1,2} [A-Z][a-z]+ \d+")
_MONTH_OR_YEAR = re.compile(r"(?:[A-Z][a-z]+ )?\d{3,4}")


def sentence_of(turn: Turn, language: Language, properties: PropertyNames) -> str | None:
    """Return the sentence that answers a turn; None if no template fits, and the answer stands alone."""
    if "abstained" in turn:
        return f"I do not know: {turn['abstained']['reason']}."
    answers = turn["pred_answers"]
    if not answers:
        return "I do not know: nothing was found."
    if "extent" in turn:
        computed = _counted(turn)
        return None if computed is None else f"{computed}{_citations(turn)}."
    evidence = _best_evidence(turn)
    if evidence is not None and answers[0]["answer"]["label"] in evidence.get("citation", {"headings": []})["headings"]:
        return None  # a heading says nothing by itself
    if answers[0]["answer"]["id"] in ("Yes", "No") and (passage := _passage(turn, language)):
        return f"{answers[0]['answer']['label'].capitalize()}: “{passage}”{_citations(turn)}."
    items = _cited_items(turn)
    answer = _answer_forms([ranked for ranked in answers if ranked.get("list")] or answers[:1], language.sentences)
    question = turn.get("resolved_question", turn["question"])
    for sentence, words in language.sentences.matching(question):
        item = None if "(" in words["item"] else _item(words["item"], items)  # a name that the history put in
        if item is None or item in answer.values():
            continue
        relation = language.sentences.relation(question, words)
        if evidence is not None and not _says(
            evidence, item, answers[0]["answer"]["label"], relation, language, properties
        ):
            continue
        said = {**{name: word.lower() for name, word in words.items()}, "item": item, **answer}
        try:
            text = sentence.format_map(said)
        except KeyError:  # the answer is of another kind
            continue
        return f"{text[:1].upper()}{text[1:]}{_citations(turn)}."
    return None


def _best_evidence(turn: Turn) -> Evidence | None:
    places = turn["pred_answers"][0].get("evidences")
    return turn["top_evidences"][places[0]] if places else None


def _passage(turn: Turn, language: Language) -> str:
    """Return the words of the file that the best answer rests on; empty if that is no text of a file, or of something else."""
    evidence = _best_evidence(turn)
    if evidence is None or "citation" not in evidence or evidence["source"] != "text":
        return ""
    title = evidence["wikidata_entities"][0]["label"] if evidence["wikidata_entities"] else ""
    words = evidence["evidence_text"][passage_start(evidence, title) :]
    question = language.properties.keywords(turn.get("resolved_question", turn["question"]))
    if question.isdisjoint(language.properties.keywords(words)):
        return ""
    return words if len(words) <= _LONGEST_PASSAGE else f"{words[: _LONGEST_PASSAGE - 1]}…"


def _counted(turn: Turn) -> str | None:
    """Return what was computed from whole tables, with how many rows and files that is of and what could not be judged.

    A single row of a page of Wikipedia is not worth the words: None.
    """
    extent, labels = (
        turn["extent"],
        [ranked["answer"]["label"] for ranked in turn["pred_answers"] if ranked.get("list")],
    )
    names = labels[:_MOST_NAMED] + ([f"{len(labels) - _MOST_NAMED} more"] if len(labels) > _MOST_NAMED else [])
    said = listed(names) if names else turn["pred_answers"][0]["answer"]["label"]
    evidence = _best_evidence(turn)
    is_of_files = evidence is not None and "citation" in evidence
    if extent["rows"] == 1 and not (is_of_files and labels):
        return None
    noun = "mail" if is_of_files and evidence is not None and is_of_mail(evidence) else "row"
    rows, files = counted(extent["rows"], noun), counted(extent["files"], "file" if is_of_files else "page")
    unjudged = f"; {counted(extent['unjudged'], noun)} without “{extent['lacking']}”" if "unjudged" in extent else ""
    return f"{said} ({rows} of {files}{unjudged})"


def _cited_items(turn: Turn) -> dict[str, str]:
    # folded name -> label of the entities that the question is about and the first cited evidence has, too
    evidence, representation = _best_evidence(turn), turn.get("representation")
    if evidence is None or not representation:
        return {}
    ids = {entity["id"] for entity in evidence["wikidata_entities"]}
    if "retrieved_for_entity" in evidence:
        ids.add(evidence["retrieved_for_entity"]["id"])
    spoken = {entity["item"]["id"]: entity["question_word"] for entity in representation.get("candidates", [])}
    names: dict[str, str] = {}
    for entity in (*representation["entities"], *representation["context"]):
        if entity["id"] in ids:
            for name in (entity["label"], spoken.get(entity["id"], "")):
                names.setdefault(fold(name), entity["label"])
    names.pop("", None)
    return names


def _item(text: str, items: Mapping[str, str]) -> str | None:
    if (label := items.get(fold(text))) is not None:
        return label
    before = _BEFORE.match(text)
    label = items.get(fold(text[before.end() :])) if before else None
    if before is None or label is None or label.startswith("The "):
        return None
    return f"{before[1].lower()} {label}"


def _says(evidence: Evidence, item: str, answer: str, said: str, language: Language, properties: PropertyNames) -> bool:
    """Return True if an evidence says of an item what a question asks of it: by the name of a property, or in words near the answer."""
    words = language.properties
    keywords, expected = words.keywords(said), {*words.keywords(said)}
    for stem in words.words.stems(fold(said)):
        expected.update(words.expansions.get(stem, ()))
    if not keywords:
        return True
    # "Game of Thrones, A first pilot, directed by Tom McCarthy": behind the title of its page, a sentence or a row names the thing itself
    title, text = evidence.get("retrieved_for_entity", {"label": ""})["label"], evidence["evidence_text"]
    is_structured = "fact" in evidence or "attribute" in evidence or "citation" in evidence
    passage = text.removeprefix(f"{title}, ")
    if not is_structured and passage != text and words.keywords(item).isdisjoint(words.keywords(passage)):
        return False
    if (labels := [*_labels(evidence)]) or "row" in evidence:
        is_subject = "fact" not in evidence or item.endswith(evidence["fact"][0]["label"])
        return is_subject and any(
            properties.asking(label, keywords) or (named := words.keywords(label.text)) and named <= expected
            for label in labels
        )
    start = text.find(answer)
    if start < 0:
        return False
    before, behind = fold(text[:start]).split()[-_NEAR:], fold(text[start + len(answer) :]).split()
    aside = language.sentences.aside
    near = [word for word, following in zip(behind[:_NEAR], [*behind[1:], ""], strict=False) if following not in aside]
    return bool(expected & words.keywords(" ".join([*before, *near])))


def _labels(evidence: Evidence) -> Iterator[PropertyLabel]:
    if "attribute" in evidence:
        yield PropertyLabel(evidence["attribute"]["path"][-1])
    for cell in evidence.get("row", {"cells": []})["cells"]:
        yield PropertyLabel(cell.get("header", ""))
    for predicate in evidence.get("fact", [])[1::2]:
        yield PropertyLabel(predicate["label"], predicate["id"])


def _answer_forms(answers: Sequence[RankedAnswer], templates: SentenceTemplates) -> dict[str, str]:
    # the placeholders of templates that the answer may fill
    labels = [_BESIDE_NAME.sub("", answer["answer"]["label"]) for answer in answers]
    if len(answers) > 1:
        return {} if any(_is_value(answer["answer"]) for answer in answers) else {"names": listed(labels)}
    (entity,), (label,) = [answer["answer"] for answer in answers], labels
    if is_date(entity["id"]):
        preposition = "on" if _DAY.fullmatch(label) else "in" if _MONTH_OR_YEAR.fullmatch(label) else ""
        return {"date": f"{preposition} {label}"} if preposition else {}
    if (measure := templates.measure(label)) is not None:
        return {"measure": measure}
    return {} if _is_value(entity) else {"name": label, "names": label}


def _is_value(entity: Entity) -> bool:
    return (
        is_date(entity["id"])
        or is_number(entity["id"])
        or entity["label"][:1].isdigit()
        or entity["id"] in ("Yes", "No")
    )


def _citations(turn: Turn) -> str:
    # the numbers of the best answer's evidences that it rests on, else of the first
    places = turn["pred_answers"][0].get("evidences", [])
    reasons = [reason["evidence"] for reason in turn.get("attribution", [])]
    numbers = [number for number, place in enumerate(places, 1) if place in reasons] or [1][: len(places)]
    return "".join(f" [{number}]" for number in numbers)
