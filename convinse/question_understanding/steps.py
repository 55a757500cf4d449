"""Finds the questions inside a question: the description of an unnamed thing ("Titanic's director"), the two dates of an age."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..knowledge_base.items import Items
from ..knowledge_base.question_names import small_names, written_names
from ..language.language import Language
from ..language.text import fold
from ..records.conversation import Step, Turn
from ..records.evidence import Entity
from ..records.literals import is_item
from ..records.rewriting import TOPIC

_MOST = 2  # descriptions of things in a question
_SENTENCE = re.compile(r"(?<=[a-z]{3}[.!?]) ")  # behind one; "Mr. Robot" goes on
_YEAR = re.compile(r"\b\d{3,4}\b")


def steps_of(
    text: str, linked: Sequence[tuple[int, int]], history: Sequence[Turn], kb: Items, language: Language
) -> list[Step]:
    """Return the questions to answer before a question in full; empty if it can be answered at once.

    Args:
        text: the question in full.
        linked: start and end of the linked names in it.
        history: the earlier turns, oldest first.
        kb: the classes of things that were spoken of.
        language: the language of the question.
    """
    names = [*linked, *_unlinked(text, linked, language)]
    aging = language.steps.aging.search(text)
    if aging is not None:
        return _of_age(text, aging.end(), linked, names, history, kb, language)
    topic = TOPIC.search(text)
    behind = f" {topic[1]}?" if topic else "?"
    text = text[: topic.start()] if topic else text
    names = [span for span in names if span[1] <= len(text)]
    begin = max((match.end() for match in _SENTENCE.finditer(text)), default=0)  # what is told before asks for nothing
    return [
        {"text": text[part.start : part.end], "question": part.question.rstrip("?") + behind}
        for part in language.steps.descriptions(text, names, has_topic=topic is not None)[:_MOST]
        if part.start >= begin and text[part.start - 1 : part.start] != "-"  # "co-star in"
    ]


def _unlinked(text: str, names: Sequence[tuple[int, int]], language: Language) -> list[tuple[int, int]]:
    """Return the places of names that link to no item: with capitals, or of words that texts do not write in lower case."""
    places = [(text.find(name), text.find(name) + len(name)) for name in written_names(text, language)]
    places += [span for span in small_names(text, language) if not language.steps.is_verb(text, *span)]
    return [
        (start, end)
        for start, end in places
        if start >= 0 and not any(start < stop and first < end for first, stop in names)
    ]


def _of_age(
    text: str,
    start: int,
    linked: Sequence[tuple[int, int]],
    names: Sequence[tuple[int, int]],
    history: Sequence[Turn],
    kb: Items,
    language: Language,
) -> list[Step]:
    """Return the questions for a birth and for the time at which an age is asked for, by words that end at `start`."""
    words = language.steps
    moment = words.moment.search(text, start)
    until = moment.start() if moment else len(text)
    before_moment = sorted(span for span in names if span[0] < until)
    places = [span for span in before_moment if span[0] >= start] or before_moment
    owner = _described_owner(text[:until], start, places, language) or _unnamed_owner(
        text, start, until, sorted(names), language
    )
    if not owner and not places:
        return []
    owner = owner or text[slice(*places[0])].removesuffix("'s").removesuffix("’s")
    born: Step = {"text": f"{owner} born", "question": f"When was {owner} born?", "use": "born"}
    clause = text[moment.end() :].strip(" ?.!") if moment is not None else ""
    said = f"{owner} died"
    rest = text[start:]
    year = _YEAR.search(rest)
    if words.dying.search(rest):
        question = f"When did {owner} die?"
    elif clause and year is None:
        said = _with_owner(_with_topics(clause, history, kb, language), owner, language)
        if said == clause and not any(first >= until for first, _ in linked):  # "when 21 was released": by whom?
            said = f"{clause} ({next((entity['label'] for entity in _topics(history)), owner)})"
        question = f"When did {said}?"
    elif year is not None:
        return [born, {"text": year[0], "question": "", "use": "then"}]
    elif words.back_then.search(rest) and history:
        return [born, _back_then(history, kb, language)]
    elif thing := _thing_within(text, start, linked, owner):  # "how old was Jodie Foster in Taxi Driver?"
        return [born, _coming_out(thing)]
    elif not language.times.present.isdisjoint(fold(rest).split()):
        return [born, {"text": "", "question": "", "use": "then"}]
    else:
        question = f"When did {owner} die?"
    return [born, {"text": said, "question": question, "use": "then"}]


def _back_then(history: Sequence[Turn], kb: Items, language: Language) -> Step:
    """Return the question for the time of the last turn: what it asks if that is a date, its year, or that of what it is about."""
    said = history[-1].get("resolved_question") or history[-1]["question"]
    if language.answer_types.expected_type(said).kind == "date":
        return {"text": said, "question": f"When: {said}", "use": "then"}
    if year := _YEAR.search(said):
        return {"text": year[0], "question": "", "use": "then"}
    for entity in _topics(history):
        kinds = kb.types(entity["id"]) if is_item(entity["id"]) else ()
        if language.answer_types.entity_kind(entity["id"], kinds) == "thing":
            return _coming_out(entity["label"])
    return {"text": said, "question": f"When: {said}", "use": "then"}


def _coming_out(thing: str) -> Step:
    """Return the question for the time of a work; "come out" alone finds films of a book, too."""
    return {"text": f"{thing} came out", "question": f"When was {thing} published or released?", "use": "then"}


def _topics(history: Sequence[Turn]) -> Sequence[Entity]:
    """Return what the last turn is about; empty if it is about nothing that is known."""
    return history[-1]["representation"]["entities"] if history and "representation" in history[-1] else ()


def _thing_within(text: str, start: int, linked: Sequence[tuple[int, int]], owner: str) -> str:
    """Return the name behind "in" of a question for an age, other than that of its owner; else an empty text."""
    names = (text[first:last] for first, last in linked if first > start and text[:first].endswith(" in "))
    return next((name for name in names if name != owner), "")


def _described_owner(text: str, start: int, names: Sequence[tuple[int, int]], language: Language) -> str:
    """Return the description of a person whose age is asked for: "Titanic's director", "the author of Dracula"; else an empty text."""
    within = [span for span in names if span[1] <= len(text)]
    parts = language.steps.descriptions(text, within)
    return next((text[part.start : part.end] for part in reversed(parts) if part.start >= start), "")


def _unnamed_owner(text: str, start: int, until: int, names: Sequence[tuple[int, int]], language: Language) -> str:
    """Return a person noun with the thing behind it ("the author of The Hobbit"), or a name in no list; else an empty text."""
    topic = TOPIC.search(text)
    end = min(until, topic.start() if topic else len(text.rstrip(" ?.!")))
    for pattern in (language.steps.back_then, language.steps.dying):
        if behind := pattern.search(text, start, end):
            end = behind.start()
    if topic:
        thing = topic[1][1:-1]
    else:
        thing = next((text[name_start:name_end] for name_start, name_end in names if name_start >= until), "")
    words = text[start:end].split()
    types = language.answer_types
    while words and fold(words[0]) in language.words.common - language.words.definite - language.words.articles:
        words.pop(0)
    if not thing or not words or any(first < end and start < last for first, last in names):
        return ""
    if fold(words[-1]) in types.person_nouns and fold(words[0]) in language.words.definite:
        return f"{' '.join(words)} of {thing}"
    return words[0] if len(words) == 1 and fold(words[0]) not in language.words.common else ""


def _with_owner(clause: str, owner: str, language: Language) -> str:
    """Return a clause with the person whose age is asked for in the place of the pronoun that it begins with: "he won it"."""
    first, _, rest = clause.partition(" ")
    return f"{owner} {rest}" if fold(first) in language.words.pronouns["person"] and rest else clause


def _with_topics(clause: str, history: Sequence[Turn], kb: Items, language: Language) -> str:
    """Return a clause with the latest thing of its class in the place of "the film", and the latest thing in that of "it"."""
    types = language.answer_types
    things: list[Entity] = []
    for turn in reversed(history):
        representation = turn.get("representation")
        if representation is not None:
            things += [*representation["entities"], *representation["context"], *turn.get("answers", ())]
    definite = "|".join(sorted(language.words.definite))
    for match in re.finditer(
        rf"(?i)\b(?:{definite}) (\w+)\b|\b(?:{'|'.join(language.words.pronouns['thing'])})\b", clause
    ):
        noun = match[1]
        if noun is not None and not types.names_class(noun):
            continue
        for thing in things:
            kinds = kb.types(thing["id"]) if is_item(thing["id"]) else ()
            fits = (
                not types.noun_types(noun).isdisjoint(types.heads(kinds))
                if noun is not None
                else types.entity_kind(thing["id"], kinds) == "thing"
            )
            if kinds and fits:
                return f"{clause[: match.start()]}{thing['label']}{clause[match.end() :]}"
    return clause
