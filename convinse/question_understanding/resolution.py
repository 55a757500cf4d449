"""The question in full: what was said before takes the place of pronouns and gaps, for models that read sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..language.answer_types import names_class
from ..language.text import PRONOUNS, fold
from .referents import Referent, may_mean

_OPENING = re.compile(r"^\W*(?:(?:and|but|or|so|okay|ok|then|now)\b\W*)+", re.IGNORECASE)
_ABOUT = re.compile(r"^\W*(?:what|how) about\b\W*", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]+")
_DEMONSTRATIVE = frozenset("the this that these those".split())
_POSSESSIVE = frozenset("his its their hers theirs".split())
# "her" before one of these, or at the end, is no possessive
_NO_NOUN = frozenset(
    "a an the in on at by to from for of with about as after before during when while and or but then first last ever "
    "also is was were are did does do has have had be been".split()
)
_ANAPHORA = frozenset().union(*PRONOUNS.values())


def in_full(question: str, mentioned: Sequence[Referent], is_a: Callable[[Referent, str], bool]) -> str:
    """The question with names for what it leaves to the history.

    Args:
        question: as asked.
        mentioned: what it refers to or is about, without being named in it; the nearest first.
        is_a: whether a referent is of the class that a noun names.

    Returns:
        A question that holds all their names: one in the place of the first pronoun, or behind the first "the film",
        that may mean it; the others follow in parentheses.
    """
    text = _OPENING.sub("", question).strip() or question.strip()
    return _completed(_replaced(text, mentioned, is_a), [one.label for one in mentioned])


def after(before: str, question: str, named: Sequence[Referent], replaced: Sequence[Referent]) -> str:
    """The full form of a question that leans on the one before for what it asks ("What about Blade Runner?").

    Args:
        before: the question before, in full.
        question: as asked.
        named: what this question names.
        replaced: what the one before was about.

    Returns:
        The question before with the new name in the old one's place; where that is not to be found, both questions.
    """
    if named:
        for old in sorted(replaced, key=lambda one: one.kind != named[0].kind):
            found = re.search(rf"(?<!\w){re.escape(old.label)}(?!\w)", before, re.IGNORECASE)
            if found:
                return f"{before[: found.start()]}{named[0].label}{before[found.end() :]}"
    rest = _ABOUT.sub("", _OPENING.sub("", question)).strip()
    return _completed(f"{before} {rest}".strip(), [one.label for one in named])


def _completed(text: str, names: Sequence[str]) -> str:
    folded = f" {fold(text)} "
    missing = [name for name in dict.fromkeys(names) if f" {fold(name)} " not in folded]
    if missing:
        body, mark = (text[:-1].rstrip(), "?") if text.endswith("?") else (text, "")
        text = f"{body} ({', '.join(missing)}){mark}"
    return text[:1].upper() + text[1:]


def _replaced(text: str, mentioned: Sequence[Referent], is_a: Callable[[Referent, str], bool]) -> str:
    words = list(_WORD.finditer(text))
    for number, word in enumerate(words):
        low = word[0].lower()
        following = words[number + 1] if number + 1 < len(words) else None
        noun = following[0].lower() if following else ""
        if low in _DEMONSTRATIVE and following and names_class(noun):
            name = next((one.label for one in mentioned if is_a(one, noun)), None)
            if name is not None:
                return f"{text[: word.start()]}the {noun} {name}{text[following.end() :]}"
        if low not in _ANAPHORA or low in ("this", "that", "these", "those", "there"):
            continue  # too often they point at nothing that was named: "that year", "the one that", "there is"
        name = next((one.label for one in mentioned if may_mean(low, one)), None)
        if name is not None:
            owns = low in _POSSESSIVE or (low == "her" and noun != "" and noun not in _NO_NOUN)
            return f"{text[: word.start()]}{_possessive(name) if owns else name}{text[word.end() :]}"
    return text


def _possessive(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"
