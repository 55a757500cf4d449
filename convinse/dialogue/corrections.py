"""Corrections of a misunderstood question ("no, the film", "I meant the band", "no, Cameron's wife")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..language.language import Language
from ..language.text import fold
from ..records.conversation import Turn
from ..records.evidence import Entity, unique_entities
from ..records.replies import Meaning
from ..resources import Resources
from .clarification import is_of_class, with_topic

_WORD = re.compile(r"[^\W\d_]+")
_LIKELY = 0.1  # score of a candidate whose name may have other meanings
_LONGEST = 6  # words of a correction; longer texts are new questions


class Corrected(NamedTuple):
    """A question to ask instead of an earlier question.

    `replaces` is False for a question that goes on with the conversation; `missing` has the words of an unknown meaning.
    """

    question: str
    meanings: list[Meaning]
    replaces: bool
    missing: str = ""


def correct(utterance: str, last: Turn, resources: Resources) -> Corrected:
    """Return the question that an utterance asks, which corrects the `last` turn."""
    language = resources.language
    text = language.talk.taking_back.sub("", utterance.strip())
    text = language.talk.put_right.sub("", text).strip(" .!?,") or utterance
    types, words, spoken = language.answer_types, language.words, fold(text).split()
    goes_on = Corrected(text, [], False)
    if types.asks(text) or len(spoken) > _LONGEST:
        return goes_on
    bare = words.without_article(fold(text)).split()
    is_small = text[1:].islower() and words.articles.union(words.pointing).issuperset(spoken[:1])
    is_class = all(
        word.isdigit() or word in words.common or types.names_class(word) or (is_small and language.common.has(word))
        for word in bare
    )
    if is_class or language.talk.other_one.search(text):
        if bare and spoken[0] in language.talk.before_times:
            return goes_on
        rival = _rival(" ".join(bare), last, resources)
        if rival is not None:
            return Corrected(last["question"], [rival], True)
        if spoken[0] not in words.possessive and spoken[0] not in ("his", "her"):
            return Corrected("", [], True, text)
    if spoken[0] in language.talk.before_times:
        return goes_on
    first, _, rest = text.partition(" ")
    about = last["representation"]["entities"][:1] if "representation" in last else []
    is_owner = rest and about and first.casefold() in words.possessive | {"her"}
    name = f"{about[0]['label']}'s {rest}" if is_owner else text  # "his wife"
    question = _with_name(last, name, resources)
    return goes_on if question is None else Corrected(question, [], True)


def is_taken_back(utterance: str, language: Language) -> bool:
    """Return True if words of correction come before a name, such as "no, Kate Winslet"; "No Time to Die" is a name."""
    head = language.talk.taking_back.match(utterance)
    rest = utterance[head.end() :] if head else ""
    is_set_off = head is not None and not head[0].rstrip().isalpha()
    return is_set_off and 0 < len(rest.split()) <= _LONGEST and not language.answer_types.asks(rest)


def _rival(folded: str, last: Turn, resources: Resources) -> Meaning | None:
    """Return the best item of a class with a name of the last question that was not understood."""
    kb, language = resources.kb, resources.language
    if "representation" not in last:
        return None
    representation = last["representation"]
    understood = {item["id"] for item in (*representation["entities"], *representation["context"])}
    is_any = language.talk.other_one.search(folded) is not None
    candidates = representation["candidates"]
    for name in dict.fromkeys(entity["question_word"] for entity in candidates if entity["score"] > _LIKELY):
        linked = [entity["item"] for entity in candidates if entity["question_word"] == name]
        named: Sequence[Entity] = [kb.entity(candidate.id) for candidate in kb.candidates(fold(name))]
        for item in unique_entities([*linked, *named]):
            if item["id"] not in understood and (is_any or is_of_class(item["id"], folded, kb, language)):
                return {"name": name, "item": item}
    return None


def _with_name(last: Turn, name: str, resources: Resources) -> str | None:
    """Return the last question with another name for its topic; None if it has neither the topic's name nor a pronoun."""
    question, language = last["question"], resources.language
    representation = last.get("representation")
    about = {item["id"] for item in representation["entities"]} if representation else set()
    for candidate in representation["candidates"] if representation else ():
        place = question.casefold().find(candidate["question_word"].casefold())
        if candidate["item"]["id"] in about and place >= 0:
            return f"{question[:place]}{name}{question[place + len(candidate['question_word']) :]}"
    pronouns = language.words.personal - language.words.pronouns["place"]
    pronoun = next((word for word in _WORD.findall(question.casefold()) if word in pronouns), None)
    return None if pronoun is None else with_topic(question, pronoun, name, language)
