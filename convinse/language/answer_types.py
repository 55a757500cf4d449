"""The type of answer that a question asks for, from its words; no model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from ..records.literals import is_date, is_number
from .text import STOP_WORDS, fold, stem, stems

_EXISTENTIAL = frozenset("is are was were am do does did has have had can could will would".split())
_WH = frozenset("who whom whose what which when where why how".split())
_FILLERS = frozenset("and but so then ok okay also well hey now please actually just or oh btw".split())

_RELATING = frozenset("of that when where for in".split())
_POLITE = re.compile(
    r"(?:do|can|could|would|will) you (?:please |also )*(?:know|tell|remember|say|name|give|list|remind)\b"
)

_DATE_NOUNS = frozenset("when date year day birthday month".split())
_NUMBER_NOUNS = frozenset(
    "number runtime length duration budget cost height capacity population age weight gross pages page episodes seasons minutes "
    "attendance count total sales revenue".split()
)
_PERSON_NOUNS = frozenset(
    "who whom director author writer novelist poet composer singer vocalist drummer guitarist bassist keyboardist frontman pianist musician artist "
    "actor actress star wife husband spouse father mother parent parents son daughter child brother sister sibling coach manager "
    "producer creator screenwriter founder president narrator player captain goalkeeper striker midfielder defender scorer "
    "cinematographer editor host person persons people man woman boy girl partner illustrator translator inventor owner chairman "
    "protagonist businessman industrialist footballer comedian playwright scientist politician songwriter rapper".split()
)
_PLACE_NOUNS = frozenset(
    "where city town country place birthplace state location village island nation county capital hometown".split()
)
_PERSON_TYPES = frozenset(("human", "person"))  # whole labels: a "human settlement" is none
_GROUP_TYPES = frozenset(
    map(stem, ("band", "group", "duo", "team", "club", "organization", "company", "ensemble", "enterprise"))
)
_PLACE_TYPES = frozenset(
    stem(word)
    for word in "city country state town county capital location geographic geographical territorial territory island village region "
    "municipality place settlement continent province borough district sovereign area community metropolis".split()
)
# nouns of questions for places of a class -> the stems of types
_PLACE_CLASSES = {
    noun: frozenset(map(stem, names.split()))
    for nouns, names in (
        (
            "city town village hometown capital",
            "city town village municipality metropolis capital settlement commune borough",
        ),
        ("country nation", "country nation state"),
        ("county", "county"),
        ("state", "state"),
        ("island", "island archipelago"),
    )
    for noun in nouns.split()
}
_OTHER_PLACE = 0.4  # how well another place than one of the wanted class fits
_MISFIT = 0.0  # a literal for an item or the reverse is no answer
_PEOPLE_TYPES = frozenset(map(stem, ("language", "ethnic", "nation", "nationality", "demonym")))
_SITE_TYPES = frozenset(
    stem(word)
    for word in "university college school institution stadium venue theatre studio museum building facility".split()
)
# nouns of questions -> nouns of types
_SYNONYMS = {
    "actor": "actor", "actress": "actor", "movie": "film", "film": "film", "band": "musical group band", "show": "television series", "series": "series", "trilogy": "trilogy series", "saga": "series", "franchise": "series franchise",
    "book": "literary work book novel", "novel": "literary work book novel", "club": "football club team", "team": "team club", "group": "group band",
    "channel": "television channel network broadcaster station", "network": "television channel network broadcaster station", "song": "song single composition",
    "album": "album", "school": "school university college institution", "university": "university college institution", "college": "university college institution",
    "genre": "genre", "kind": "genre", "style": "genre", "language": "language", "award": "award prize", "prize": "award prize", "instrument": "instrument",
    "label": "record label", "studio": "company studio enterprise", "company": "company business enterprise studio", "position": "position", "religion": "religion",
    "country": "country state", "nationality": "country state", "stadium": "stadium venue", "ground": "stadium venue", "league": "league", "character": "character fictional human",
    "profession": "profession occupation", "job": "profession occupation", "occupation": "profession occupation", "publisher": "publisher company",
    "party": "party", "tournament": "tournament cup championship competition", "cup": "cup competition", "city": "city town", "town": "city town", "state": "state",
}  # fmt: skip


_CLASS_NOUNS = {stem(noun): names for noun, names in _SYNONYMS.items()}
_ADJECTIVES = frozenset(("national",))  # of the same stem as a class noun


class AnswerType(NamedTuple):
    """`kind` is yesno, date, number, person, place, item or any; `words` name the type of an item, the class of a place."""

    kind: str
    words: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The type in words, as the last slot of a representation."""
        return " ".join(self.words) if self.words else {"yesno": "yes or no", "any": ""}.get(self.kind, self.kind)


def parse_label(label: str) -> AnswerType:
    """The inverse of `AnswerType.label`."""
    label = label.strip()
    if label in ("date", "number", "person", "place"):
        return AnswerType(label)
    if label in _PLACE_CLASSES:
        return AnswerType("place", (label,))
    if label == "yes or no":
        return AnswerType("yesno")
    return AnswerType("item", tuple(label.split())) if label else AnswerType("any")


def noun_types(noun: str) -> frozenset[str]:
    """The stems of class names that a noun of a question stands for ("movies" -> film)."""
    return frozenset(stems(_CLASS_NOUNS.get(stem(noun)) or fold(noun)))


def names_class(noun: str) -> bool:
    """Whether a noun is a known word for a class of items."""
    return stem(noun) in _CLASS_NOUNS and noun.lower() not in _ADJECTIVES


def types_from_label(label: str) -> tuple[str, ...]:
    """What the label of an item without classes says that it is: an "Award for Best Director" is an award."""
    return tuple(word for word in fold(label).split() if names_class(word))[:1] if label[:1].isupper() else ()


def is_existential(question: str) -> bool:
    """Whether a question asks for yes or no: its first word, fillers aside, is a form of be, do, have, can or will.

    "Can you tell me who ..." asks for what follows.
    """
    written = unicodedata.normalize("NFC", question.lower())  # or the accent of "Dóra" may end the word "do"
    tokens = [token for token in re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", written) if token not in _FILLERS]
    return bool(tokens) and tokens[0] in _EXISTENTIAL and not _POLITE.match(" ".join(tokens))


_DETERMINERS = frozenset("the his her its their these those".split())
_WHICH_IS = re.compile(r"\bwhich(?: one)? (?:is|was|are|were)\b", re.IGNORECASE)  # "which was their last album?"


def expected_type(question: str) -> AnswerType:
    """The type of answer that a question asks for; `any` when its words do not say."""
    if is_existential(question):
        return AnswerType("yesno")
    tokens = re.findall(r"[^\W_]+(?:['’][a-z]+)?", question)
    low = [re.sub(r"['’]s$", "", token.lower()) for token in tokens]
    for place, token in enumerate(low):
        after = low[place + 1 : place + 4]
        if token in ("who", "whom"):
            return AnswerType("person")
        if token == "when":
            return AnswerType("date")
        if token == "where":
            return AnswerType("place")
        if token == "whose":
            return AnswerType("person")
        if (
            token == "how"
            and after[:1]
            and after[0] in ("many", "much", "long", "tall", "high", "old", "big", "large", "far", "heavy")
        ):
            return AnswerType("number")
        if token in ("what", "which") and after:
            if after[0] == "about":
                continue
            # "which of his films"
            start = place + (3 if after[0] == "of" and after[1:2] and after[1] in _DETERMINERS else 1)
            found = _noun_type(low[start:], tokens[start:])
            if found.kind != "any":
                return found
    if not _WH & set(low) or "what" in low or _WHICH_IS.search(question):
        # "what was the year that the league began", "director of the film?": the noun before is what is asked for
        end = next((place for place, token in enumerate(low) if token in _RELATING and place), len(low))
        found = _keyword_type(low[:end])
        return found if found.kind != "any" else _keyword_type(low)
    return AnswerType("any")


def asks_for_year(question: str) -> bool:
    """Whether a year answers a question ("in which year", "release year?"), not a day: `1952` for `11 March 1952`."""
    words = fold(question).split()
    return "year" in words and not {"when", "date", "day", "birthday", "month", "years"}.intersection(words)


def is_number_noun(noun: str) -> bool:
    """Whether a noun names something that is given as a number ("budget", "population")."""
    return noun in _NUMBER_NOUNS


def _noun_type(low: list[str], tokens: list[str]) -> AnswerType:
    """The type that the words after "what" or "which" name: "which record label", "what year", "what kind of music"."""
    head: list[str] = []
    for token, written in zip(low, tokens, strict=True):
        if token in STOP_WORDS or (written[0].isupper() and head):
            break
        head.append(token)
        if len(head) == 3:
            break
    if not head:
        return AnswerType("any")
    for noun in head:
        kind = _kind_of_noun(noun)
        if kind != "any":
            return _of_kind(kind, noun)
        if names_class(noun):
            return AnswerType("item", (noun,))
    return AnswerType("item", tuple(head[:1]))


def _keyword_type(low: list[str]) -> AnswerType:
    """For "release date?", "and the director?", "what was his wife's name?": the last noun that names a type."""
    for noun in reversed(low):
        kind = _kind_of_noun(noun)
        if kind != "any":
            return _of_kind(kind, noun)
        if names_class(noun):
            return AnswerType("item", (noun,))
    return AnswerType("any")


def _of_kind(kind: str, noun: str) -> AnswerType:
    one = next((one for one in (noun, noun.rstrip("s")) if one in _PLACE_CLASSES), None)
    return AnswerType(kind, (one,)) if kind == "place" and one else AnswerType(kind)


def _kind_of_noun(noun: str) -> str:
    if noun in _DATE_NOUNS:
        return "date"
    if noun in _NUMBER_NOUNS:
        return "number"
    if noun in _PERSON_NOUNS or noun.rstrip("s") in _PERSON_NOUNS:
        return "person"
    return "place" if noun in _PLACE_NOUNS or noun.rstrip("s") in _PLACE_NOUNS else "any"


def heads(types: Iterable[str]) -> frozenset[str]:
    """The stems of the nouns that class names are built on: a "city of the United States" is a city, a "film director"
    is no film."""
    return frozenset(
        stem(fold(re.split(r" (?:of|for|in|by|from|with) ", name)[0]).split()[-1]) for name in types if fold(name)
    )


def is_character(types: Iterable[str]) -> bool:
    """Whether an item is a made-up being."""
    return any("fictional" in name or "character" in name for name in types)


def fit(expected: AnswerType, entity_id: str, types: Iterable[str]) -> float:
    """How well an entity fits the expected type, from 0 to 1; unknown types fit a little.

    Args:
        expected: what the question asks for.
        entity_id: the id of the candidate: an item, a date or a number.
        types: labels of what the item is, lower case.
    """
    date, number = is_date(entity_id), is_number(entity_id)
    if expected.kind == "date":
        return 1.0 if date else _MISFIT
    if expected.kind == "number":
        return 1.0 if number else _MISFIT
    if date or number:
        return 0.15 if expected.kind == "any" else _MISFIT
    types = tuple(types)
    if not types:
        return 0.3
    found = heads(types)
    if expected.kind == "person":
        if is_character(types):
            return 0.3
        return 1.0 if _PERSON_TYPES.intersection(types) else 0.4 if found & _GROUP_TYPES else 0.01
    if expected.kind == "place":
        if expected.words and found & _PLACE_TYPES:
            return 1.0 if found & _PLACE_CLASSES[expected.words[0]] else _OTHER_PLACE
        return 1.0 if found & _PLACE_TYPES else 0.5 if found & _SITE_TYPES else 0.02
    if expected.kind == "item":
        wanted = set()
        for word in expected.words:
            wanted |= noun_types(word)
        return 1.0 if found & wanted else 0.05
    return 0.8


def entity_kind(entity_id: str, types: Iterable[str]) -> str:
    """person, group, place, people (a nation, a language), date, number or thing: what pronouns tell apart."""
    if is_date(entity_id):
        return "date"
    if is_number(entity_id):
        return "number"
    types = tuple(types)
    found = heads(types)
    if _PERSON_TYPES.intersection(types) or is_character(types):
        return "person"
    if found & _GROUP_TYPES:
        return "group"
    if found & _PEOPLE_TYPES:
        return "people"
    return "place" if found & _PLACE_TYPES else "thing"
