"""Half sentences that change a year, a place in an order or a question word of the question before: "and in 1998?"."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_EVENTS = ("final", "cup final", "world championship", "award", "race", "election", "festival", "Grand Prix", "prize")
_NOUNS = ("album", "novel", "film", "season", "book", "record", "single", "wife", "husband", "match", "title")
_WORDS = ("first", "second", "third", "fourth", "fifth", "sixth", "last", "latest", "best", "longest")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "1", "2", "3", "4", "5", "6", "7")

# What stands in {} changes from turn to turn; {name}, {event} and {noun} stay.
_YEARS = (
    "who won {name} in {}", "who won the {} {event}", "who was given the {event} of {}", "where was the {event} of {}",
    "who hosted {name} in {}", "against whom did {name} win the {event} in {}", "which city hosted the {event} in {}",
    "who beat {name} in the {} {event}", "who coached {name} in {}", "what did {name} publish in {}",
    "which {noun} won the {event} in {}", "how many people lived in {name} in {}", "who scored for {name} in the {event} of {}",
    "what was {name}'s {noun} of {}", "in {}, who led {name}", "In {} which {event} did {name} win", "who owned {name} in {}",
    "which country won in {}", "what prize did {name} win in {} for the {noun}", "who played the part in {}",
    "how many copies of {name} were sold in {}", "who directed the {} version", "who was the star of the {} film {name}",
    "who sang at the {event} in {}", "Which {noun} by {name} came out in {}", "what did {name} earn in {}, in dollars",
)  # fmt: skip
_SPANS = (
    "who coached {name} from {}", "who led {name} from {}", "where did {name} live from {}", "who owned {name} from {}",
    "which club did {name} play for from {}", "who was the husband of {name} between {}",
)  # fmt: skip
_ORDERS = (
    "what is the {} {noun} of {name}", "who wrote the {} {noun} of {name}", "what was {name}'s {} {noun}",
    "when did {name}'s {} {noun} come out", "who was the {} {noun} of {name}", "who is on the cover of the {} {noun}",
    "who directed the {} {noun}", "where was the {} {noun} set", "how long was the {} one of {name}",
)  # fmt: skip
_COUNTED = (
    "how many episodes did season {} of {name} have", "who directed part {} of {name}", "when did season {} of {name} start",
    "who won season {}", "who narrates book {} of {name}", "how many songs are on volume {}", "when did chapter {} come out",
)  # fmt: skip
_ASKED = (
    "{} was {name} born", "{} did {name} die", "{} was {name} founded", "{} did {name} marry", "{} was {name} filmed",
    "{} did they meet {name}", "{} was the first {noun} of {name} recorded", "{} did {name} write the {noun}",
)  # fmt: skip
_HALVES = {
    "year": ("and in {}?", "in {}?", "and {}?", "what about {}?", "{}?", "of {}?", "And in {}", "And of {}?", "how about {}", "and for {}?"),
    "span": ("and from {}?", "from {}?", "{}?", "and {}?", "And between {}?", "what about {}?"),
    "order": ("and the {}?", "the {}?", "And the {}", "what about the {}?", "and {}?", "and the {} one?", "the {} one?"),
    "count": ("and {}?", "and season {}?", "What about {}?", "{}?", "and number {}?"),
    "asked": ("and {}?", "{}?", "And {}", "{}"),
}  # fmt: skip


class Changed(NamedTuple):
    """A half sentence after a question, with that question changed by it."""

    question: str
    in_full: str


def half_sentences(chance: random.Random, name: str, turns: int) -> Iterator[Changed]:
    """Turns of a conversation about a name; of the first the question is in full."""
    kind = chance.choice(("year", "year", "year", "span", "order", "count", "asked"))
    frames: Sequence[str] = {"year": _YEARS, "span": _SPANS, "order": _ORDERS, "count": _COUNTED, "asked": _ASKED}[kind]
    frame = chance.choice(frames).replace("{event}", chance.choice(_EVENTS)).replace("{noun}", chance.choice(_NOUNS))
    frame = frame.replace("{name}", name.replace("{", "(").replace("}", ")"))
    if chance.random() < 0.4:
        frame = frame[:1].upper() + frame[1:]
    frame += chance.choice(("?", "", f" ({name})?".replace("{", "(")))
    for turn, value in enumerate(_values(chance, kind, turns)):
        in_full = frame.format(value)
        half = chance.choice(_HALVES[kind]).format(value)
        yield Changed(half if turn else in_full, in_full)


def _values(chance: random.Random, kind: str, turns: int) -> list[str]:
    if kind == "year":
        return [str(year) for year in chance.sample(range(1930, 2024), turns)]
    if kind == "span":
        link = chance.choice(("to", "until", "and"))
        starts = chance.sample(range(1940, 2018), turns)
        return [f"{start} {link} {start + chance.randint(1, 9)}" for start in starts]
    drawn = {"order": _WORDS, "count": _NUMBERS, "asked": ("when", "where", "why", "in which year", "in which city")}
    return chance.sample(drawn[kind], min(turns, 4))
