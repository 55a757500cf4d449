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
    """Return the question that a correction asks.

    Args:
        utterance: the correction.
        last: the turn that it corrects.
        resources: the knowledge base, linker and language.
    """
    language = resources.language
    words_put_right = language.talk.taking_back.sub("", utterance.strip())
    words_put_right = language.talk.put_right.sub("", words_put_right).strip(" .!?,") or utterance
    types, spoken = language.answer_types, fold(words_put_right).split()
    goes_on = Corrected(words_put_right, [], False)
    if types.asks_what(words_put_right) or types.is_existential(words_put_right) or len(spoken) > _LONGEST:
        return goes_on
    bare = language.words.without_article(fold(words_put_right))
    is_small = words_put_right[1:].islower() and language.words.articles.union(language.words.pointing).issuperset(
        spoken[:1]
    )
    is_class = all(
        word.isdigit()
        or word in language.words.common
        or types.names_class(word)
        or (is_small and language.common.has(word))
        for word in bare.split()
    )
    if is_class or language.talk.other_one.search(words_put_right):
        if bare.split()[:1] and spoken[0] in language.talk.before_times:
            return goes_on
        rival = _rival(bare, last, resources)
        if rival is not None:
            return Corrected(last["question"], [rival], True)
        if spoken[0] not in language.words.possessive and spoken[0] not in ("his", "her"):
            return Corrected("", [], True, words_put_right)
    if spoken[0] in language.talk.before_times:
        return goes_on
    first, _, rest = words_put_right.partition(" ")
    about = last["representation"]["entities"][:1] if "representation" in last else []
    name = words_put_right
    if rest and about and first.casefold() in language.words.possessive | {"her"}:
        name = f"{about[0]['label']}'s {rest}"  # "his wife"
    question = _with_name(last, name, resources)
    return goes_on if question is None else Corrected(question, [], True)


def is_taken_back(utterance: str, language: Language) -> bool:
    """Return True if words of correction come before a name, such as "no, Kate Winslet"; "No Time to Die" is a name."""
    head = language.talk.taking_back.match(utterance)
    rest = utterance[head.end() :] if head else ""
    types = language.answer_types
    is_set_off = head is not None and not head[0].rstrip().isalpha()
    return (
        is_set_off and 0 < len(rest.split()) <= _LONGEST and not (types.asks_what(rest) or types.is_existential(rest))
    )


def _rival(folded: str, last: Turn, resources: Resources) -> Meaning | None:
    """Return the best item of a class with a name of the last question that was not understood."""
    kb, language = resources.kb, resources.language
    if "representation" not in last:
        return None
    representation = last["representation"]
    understood = {item["id"] for item in (*representation["entities"], *representation["context"])}
    is_any = language.talk.other_one.search(folded) is not None
    names = dict.fromkeys(
        candidate["question_word"] for candidate in representation["candidates"] if candidate["score"] > 0.1
    )
    for name in names:
        linked = [candidate["item"] for candidate in representation["candidates"] if candidate["question_word"] == name]
        named: Sequence[Entity] = [kb.entity(candidate.id) for candidate in kb.candidates(fold(name))]
        for item in unique_entities([*linked, *named]):
            if item["id"] not in understood and (is_any or is_of_class(item["id"], folded, kb, language)):
                return {"name": name, "item": item}
    return None


def _with_name(last: Turn, name: str, resources: Resources) -> str | None:
    """Return the last question with another name for its topic; None if it has neither the topic's name nor a pronoun."""
    question, language = last["question"], resources.language
    about = {item["id"] for item in last["representation"]["entities"]} if "representation" in last else set()
    candidates = last["representation"]["candidates"] if "representation" in last else []
    for candidate in candidates:
        place = question.casefold().find(candidate["question_word"].casefold())
        if candidate["item"]["id"] in about and place >= 0:
            return f"{question[:place]}{name}{question[place + len(candidate['question_word']) :]}"
    pronouns = language.words.personal - language.words.pronouns["place"]
    pronoun = next((word for word in _WORD.findall(question.casefold()) if word in pronouns), None)
    return None if pronoun is None else with_topic(question, pronoun, name, language)
