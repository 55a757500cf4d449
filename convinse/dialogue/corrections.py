"""Corrections of a misunderstood question ("no, the film", "I meant the band", "no, Cameron's wife")."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..language.text import fold
from ..records.conversation import Turn
from ..records.evidence import Entity, unique_entities
from ..records.replies import Meaning
from ..resources import Resources
from .clarification import is_of_class

_LIKELY = 0.1  # score of a candidate whose name may have other meanings
_LONGEST = 6  # words of a correction; longer texts are new questions


def correct(utterance: str, last: Turn, resources: Resources) -> tuple[str, list[Meaning], bool] | None:
    """Return the question that an utterance asks, which corrects the `last` turn, or the words that replace some of its question.

    With them are the meanings of names, and False if the question goes on with the conversation. None if the meaning that the
    utterance speaks of is unknown.
    """
    language = resources.language
    denied, text = language.talk.corrected(utterance)
    types, words, spoken = language.answer_types, language.words, fold(text).split()
    if types.asks(text) or len(spoken) > _LONGEST:
        return text, [], False
    is_put_right = _is_name(denied, resources) or fold(denied) in types.opening_words
    said = re.search(rf"(?i)\b{re.escape(denied)}\b", last["question"]) if is_put_right else None
    if said is not None:  # "how many seasons does Frasier have?", "Friends, not Frasier"
        return f"{last['question'][: said.start()]}{text}{last['question'][said.end() :]}", [], False
    bare = words.without_article(fold(text)).split()
    is_small = text[1:].islower() and words.articles.union(words.pointing).issuperset(spoken[:1])
    is_class = not _is_name(text, resources) and all(
        word.isdigit()
        or word in words.common
        or types.names_class(word)
        or (is_small and language.words.is_written_small(word))
        for word in bare
    )
    has_classes = any(resources.kb.properties())  # a thing in files has no other meaning
    if (
        has_classes
        and (is_class or language.talk.other_one.search(text))
        and bare
        and spoken[0] not in language.talk.before_times
    ):
        rival = _rival(" ".join(bare), last, resources)
        if rival is not None:
            return last["question"], [rival], True
        if language.talk.other_one.search(text) or (
            len(bare) == 1 and bare[0].isalpha() and bare[0] not in types.person_nouns
        ):
            return None
    return text, [], True


def is_taken_back(utterance: str, resources: Resources) -> bool:
    """Return True if words of correction stand around a name: "no, Kate Winslet", "sorry shakira", "Friends, not Frasier".

    "No Time to Die" is a name: one word alone, without a comma, corrects only if what is behind it is known.
    """
    language, talk = resources.language, resources.language.talk
    head, rest = talk.taking_back.match(utterance), talk.replacement(utterance)
    is_unchanged = rest == talk.bare(utterance).strip(" .!?,")
    if is_unchanged or len(rest.split()) > _LONGEST or any(map(language.answer_types.asks, (utterance, rest))):
        return False
    if head is None or not head[0].rstrip().isalpha():
        return True
    return _is_name(rest, resources)


def _is_name(text: str, resources: Resources) -> bool:
    """Return True if a text is a name that is known."""
    return any(
        mention.is_name and mention.surface.casefold() == text.casefold() for mention in resources.linker.link(text)
    )


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
