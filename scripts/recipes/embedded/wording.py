"""How facts are asked for: the choice of a pattern that fits, and the shapes in which the pipeline puts questions."""

import random
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from convinse.language.language import english
from recipes.embedded.patterns import FORWARD, Pattern, Phrasings, content_words, generic, slots
from recipes.embedded.wikidata import FEMALE, GENDER, MALE, Facts, Told, Words, is_item

_POSITIVE_FIT = 0.04  # of an answer to what a pattern asks for; below, it asks for something else
_MUSIC = ("music", "sing", "song", "band", "album", "rapper", "compos", "guitar", "pianist", "drummer", "opera")
_ON_SCREEN = frozenset[str]().union(*map(english().answer_types.noun_types, ("film", "show", "miniseries", "sitcom")))
_FEMALE_WORDS = (" wife", " daughter", " sister", " girlfriend", " mother", " mum", " actress")
_MALE_WORDS = (" husband", " son ", " brother", " boyfriend", " father", " dad ", " king ")


class _Groups(msgspec.Struct):
    kin: list[set[str]]
    vague: dict[str, set[str]]


_GROUPS = msgspec.yaml.decode(Path(__file__).with_name("kin.yml").read_bytes(), type=_Groups)


@lru_cache(maxsize=50_000)
def kin_of(prop: str, pattern: str) -> frozenset[str]:
    """The properties that a question for a property may mean, too."""
    groups = [group for group in _GROUPS.kin if prop in group]
    groups += [group for words, group in _GROUPS.vague.items() if re.search(words, pattern)]
    return frozenset({prop}.union(*groups))


class Wording:
    """Chooses patterns and spells out queries; a question before is made of hand-written patterns."""

    def __init__(self, knowledge: Facts, written: Phrasings, chance: random.Random) -> None:
        self._known = knowledge
        self._written = written
        self._chance = chance

    def pools(self, written: Sequence[Pattern], mined: Sequence[Pattern], fact: Told) -> list[Sequence[Pattern]]:
        """Hand-written patterns, those of SimpleQuestions, and for variety or without these, those of the property's name."""
        aliases = self._known.aliases.get(fact.prop, []) if self._chance.random() < 0.2 else []
        general = generic(fact.labels[1], aliases, self._known.kind(fact.value) == "person")
        pools = [pool for pool in (written, mined) if pool]
        if not pools or self._chance.random() < 0.12:
            return [general]
        return pools

    def choose(
        self, pools: Sequence[Sequence[Pattern]], topic: str, answer: str, least_fit: float = _POSITIVE_FIT
    ) -> Pattern | None:
        """A pattern that fits what is asked about and the answer; a few are tried."""
        for _ in range(8):
            pattern = self._chance.choice(self._chance.choice(pools))
            if self._fits(pattern, topic, answer, least_fit):
                return pattern
        return None

    def _fits(self, pattern: Pattern, topic: str, answer: str, least_fit: float) -> bool:
        if pattern.kind == "screen":
            if not _ON_SCREEN & self._known.heads(topic):
                return False
        elif pattern.kind and pattern.kind != self._known.kind(topic):
            return False
        if not pattern.kind and self._known.kind(topic) != "person" and pattern.text.startswith("whose"):
            return False
        types = (*self._known.types(topic), *self._known.types(answer))
        nouns = self._known.heads(topic) | self._known.heads(answer)
        is_known = bool(self._known.types(topic) and self._known.types(answer))
        if is_known and not all(_types(word) & nouns for word in _class_words(pattern.text)):
            return False
        if "music" in pattern.text and not any(root in name for root in _MUSIC for name in types):
            return False
        gender = {fact.value for fact in self._known.by_subject.get(answer, ()) if fact.prop == GENDER}
        text = f" {pattern.text} "
        if any(word in text for word in _FEMALE_WORDS) and FEMALE.isdisjoint(gender):
            return False
        if any(word in text for word in _MALE_WORDS) and MALE.isdisjoint(gender):
            return False
        return english().answer_types.fit(_expected(pattern.text), answer, self._known.types(answer)) >= least_fit

    def query(self, pattern: Pattern, topic: str, question: str, words: Mapping[str, str], prop: str) -> str:
        """A question in one of the shapes that the pipeline gives to the models."""
        name = self._known.kb.label(topic)
        pronouns = self._known.pronouns(topic)
        draw = self._chance.uniform(0.0 if pattern.names_topic else 0.3, 1.0)
        if draw < 0.22:
            return question
        if draw < 0.30:
            return f"{name}{self._chance.choice((' ', '. '))}{question}"
        short = self.spelled(pattern.with_pronoun(self._chance.choice(pronouns), **words)) if pronouns else question
        if draw < 0.58 or (draw < 0.86 and not content_words(short)):
            return f"{name}{self._chance.choice((' ', ' ', ' ', '. '))}{short}"
        if draw < 0.86 or not pronouns:
            return slots(self._context(topic), name, short)
        return self._after_another(topic, short, prop)

    def _context(self, topic: str) -> str:
        """Now and then something that the topic has to do with, as the topic of the conversation before."""
        near = self._known.by_object.get(topic, ()) or self._known.by_subject.get(topic, ())
        if not near or self._chance.random() < 0.75:
            return ""
        fact = self._chance.choice(near)
        place = 0 if fact.subject != topic else 2
        return fact.labels[place] if is_item(fact.ids[place]) else ""

    def _after_another(self, topic: str, question: str, prop: str) -> str:
        stated = [fact for fact in self._known.by_subject.get(topic, ()) if fact.prop != prop]
        for _ in range(3 if stated else 0):
            fact = self._chance.choice(stated)
            pattern = self.choose(self.pools(self._written.get((fact.prop, FORWARD), ()), (), fact), topic, fact.value)
            if pattern:
                before = self.spelled(pattern.filled(Words.named(fact.labels[0])))
                return f"{before} {fact.labels[2]} {question}"
        return f"{self._known.kb.label(topic)} {question}"

    def spelled(self, question: str) -> str:
        """A question as people type it: with or without a capital, a question mark, or a word before it."""
        if self._chance.random() < 0.06:
            question = f"{self._chance.choice(('and', 'and', 'so', 'ok, and', 'tell me,', 'but'))} {question}"
        draw = self._chance.random()
        if draw < 0.6:
            question = question[:1].upper() + question[1:]
        elif draw > 0.93:
            question = question.lower()
        return question if self._chance.random() < 0.3 else f"{question}?"


_expected = lru_cache(maxsize=50_000)(english().answer_types.expected_type)
_types = lru_cache(maxsize=1000)(english().answer_types.noun_types)


@lru_cache(maxsize=50_000)
def _class_words(pattern: str) -> tuple[str, ...]:
    words = content_words(re.sub(r"\{\w\}", " ", pattern))
    return tuple(
        word for word in words if english().answer_types.names_class(word) and word not in ("kind", "style", "part")
    )
