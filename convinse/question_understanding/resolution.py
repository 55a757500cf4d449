"""The question in full: what was said before takes the place of pronouns and gaps, for models that read sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..language.language import Language
from ..language.text import fold
from ..records.literals import is_date
from ..records.representation import UnlinkedName
from .referents import Referent, may_mean

_WORD = re.compile(r"[A-Za-z]+")


def in_full(
    question: str, mentioned: Sequence[Referent], is_a: Callable[[Referent, str], bool], language: Language
) -> str:
    """The question with names for what it leaves to the history.

    Returns:
        A question that holds all their names, in the place of the pronouns, or behind the first "the film", that may mean
        them; the others follow in parentheses.
    """
    text = language.conversation.opening.sub("", question).strip() or question.strip()
    return completed(_replaced(text, mentioned, is_a, language), [referent.label for referent in mentioned])


class Completed(NamedTuple):
    """A question that leans on the one before, in full, and what of it has no place in that and stands behind it."""

    text: str
    unplaced: str


def after(
    before: str,
    question: str,
    named: Sequence[Referent],
    about: Sequence[Referent],
    replaced: Sequence[Referent],
    language: Language,
) -> Completed:
    """The full form of a question that leans on the question before for what it asks ("What about Blade Runner?").

    Returns:
        The question before with the new name in the place of the old name; where that is not in it, or where this question has
        words of its own besides names ("When?"), both questions.
    """
    rest = language.conversation.about.sub("", language.conversation.opening.sub("", question)).strip()
    before, rest = _in_parallel(before, rest, language)
    before, rest = _in_frame(before, rest, language)
    before, rest = _with_time(before, rest, language)
    before, rest = _in_phrase(before, rest, language)
    before, rest = _in_order(before, rest, language)
    before, rest = _asked_anew(before, rest, language)
    if not rest:  # all of it has its place
        return Completed(completed(before, [referent.label for referent in about]), "")
    for old in sorted(replaced, key=lambda referent: referent.kind != named[0].kind) if named else ():
        name = re.search(rf"(?<!\w){re.escape(old.label)}(?!\w)", before, re.IGNORECASE)
        if name:
            before = f"{before[: name.start()]}{named[0].label}{before[name.end() :]}"
            if not _says_more(rest, named, replaced, language):
                return Completed(before, "")
            break
    return Completed(completed(f"{before} {rest}".strip(), [referent.label for referent in about]), rest)


def with_name(
    before: str, question: str, named: Sequence[UnlinkedName], replaced: Sequence[UnlinkedName], language: Language
) -> str | None:
    """The full form of a question that gives nothing but another name than the question before ("And Kif?").

    Returns:
        The question before with the new name in the place of the old one; None where either has not just one name, or this
        one says more.
    """
    if len(named) != 1 or len(replaced) != 1:
        return None
    new, old = named[0]["name"], replaced[0]["name"]
    place = re.search(rf"(?<!\w){re.escape(old)}(?!\w)", before, re.IGNORECASE)
    if place is None or not language.words.common.issuperset(fold(question.replace(new, " ", 1)).split()):
        return None
    return f"{before[: place.start()]}{new}{before[place.end() :]}"


def dated(question: str, before: str, answers: Sequence[str], language: Language) -> str:
    """The question with a year for "that year" or "two years later", where the turn before tells one."""
    patterns = language.conversation
    phrase = patterns.same_year.search(question) or patterns.other_year.search(question)
    years = [answer[:4] for answer in answers if is_date(answer)] or patterns.year.findall(before)
    if phrase is None or not years or not years[-1].isdigit():
        return question
    told = phrase.groupdict()
    word = (told.get("number") or "one").lower()
    apart = int(word) if word.isdigit() else language.names.numerals.get(word)
    if apart is None:
        return question
    back = any(told.get(name) for name in ("back", "previous", "before"))
    year = int(years[-1]) + (0 if phrase.re is patterns.same_year else -apart if back else apart)
    return f"{question[: phrase.start()]}in {year}{question[phrase.end() :]}"


def _asked_anew(before: str, rest: str, language: Language) -> tuple[str, str]:
    """The question before with the question word that is all of this one: "When was she born?" "where?"."""
    word = rest.strip(" ?.")
    first = language.conversation.place_or_time.match(before)
    if first is None or not language.conversation.place_or_time.fullmatch(word):
        return before, rest
    return f"{word.capitalize()}{before[first.end() :]}", ""


def _in_order(before: str, rest: str, language: Language) -> tuple[str, str]:
    """The question before with the number that this one gives in the place of its own, and what is left of this one.

    "How long is season two?" "the first?"
    """
    new = language.conversation.nth.fullmatch(rest.strip(" ?."))
    old = new and language.conversation.numbered.search(before)
    if not new or not old:
        return before, rest
    put = f"the {new['nth']} {old['noun']}" if old["noun"] else new["nth"]
    return f"{before[: old.start()]}{put}{before[old.end() :]}", ""


def _in_parallel(before: str, rest: str, language: Language) -> tuple[str, str]:
    """The question before with what this one puts in the place of its end, and what is left of this one.

    "Who was Elizabeth in the 1995 version?" "Mr Bennet in the 2005 film?": of both, a name and where it is.
    """
    new = language.conversation.placed.fullmatch(rest)
    old = new and re.search(rf"(?<=[a-z] )[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)* {new['link']}\b[^?]*", before)
    if not new or not old:
        return before, rest
    return f"{before[: old.start()]}{rest.rstrip(' ?.')}{before[old.end() :]}", ""


def _in_frame(before: str, rest: str, language: Language) -> tuple[str, str]:
    """The question before with the place or part that this one names in the place of its own, and what is left of this one.

    "Who sings the theme in season 2 of The Wire?" "in the last season?": both have the same noun.
    """
    new = language.conversation.framed.fullmatch(rest.rstrip(" ?."))
    old = new and re.search(rf"(?i).*\b({new['link']} (?:[\w'’-]+ ){{0,3}}{re.escape(new['noun'])}(?: \d+)?)\b", before)
    if not new or not old:
        return before, rest
    return f"{before[: old.start(1)]}{new[0]}{before[old.end(1) :]}", ""


def _in_phrase(before: str, rest: str, language: Language) -> tuple[str, str]:
    """The question before with what this one says behind a preposition in the place of what it says behind the same, and what is
    left of this one.

    "What did she play in House of Gucci?" "in A Star Is Born?", "Who won the prize for the score?" "for director?"
    """
    new = language.conversation.phrased.match(rest)
    if new is None or language.conversation.question_word.search(rest):
        return before, rest
    same = (old for old in language.conversation.phrased.finditer(before) if old["link"].lower() == new["link"].lower())
    last = max(same, key=lambda old: old.start(), default=None)
    if last is None:
        return before, rest
    return f"{before[: last.start()]}{rest.rstrip(' ?.,')}{before[last.end() :]}", ""


def _with_time(before: str, rest: str, language: Language) -> tuple[str, str]:
    """The question before with the time that this one tells in the place of its own, and what is left of this one.

    "Who won in 2002?" "in 2014?", "Who coached them from 2009 to 2011?" "the three years from 2013".
    """
    patterns = language.conversation
    for time in (patterns.time_clause, patterns.years):
        new, old = time.search(rest), time.search(before)
        if new is None or old is None:
            continue
        (told, start), (dated, end) = _when(new), _when(old)
        if rest.strip(" ?.,") == new[0].strip():
            if not (told and dated):  # "1983" for "in 1982"
                return f"{before[:end]}{rest[start:].rstrip(' ?.')}{before[old.end() :]}", ""
            return f"{before[: old.start()]}{new[0].strip()}{before[old.end() :]}", ""
        if dated:
            return f"{before[: old.start()]}{rest.rstrip(' ?.')}{before[old.end() :]}", ""
        return f"{before[: old.start()]}{before[old.end() :].lstrip()}", rest  # "the 1980 film" is not meant
    return before, rest


def _when(time: re.Match[str]) -> tuple[bool, int]:
    """Whether words lead to a time ("in 1982"), and where the text has the time itself."""
    digit = re.search(r"\d", time[0])
    return digit is None or digit.start() > 0, time.start() + (digit.start() if digit else 0)


def _says_more(rest: str, named: Sequence[Referent], replaced: Sequence[Referent], language: Language) -> bool:
    """Whether a question that leans on another one has words of its own besides the name that it puts in."""
    if language.conversation.question_word.search(rest):
        return True
    in_names = {word for referent in named for word in fold(referent.label).split()}
    own = set(fold(rest).split()) - in_names - language.words.stop_words
    # where it names nothing, all words are its own; else they may be another name of what it names
    return bool(own) if named[0] in replaced else any(map(str.isdigit, own))


def completed(text: str, names: Sequence[str]) -> str:
    """A question with the names that it lacks in parentheses."""
    folded = f" {fold(text)} "
    missing = [name for name in dict.fromkeys(names) if f" {fold(name)} " not in folded]
    if missing:
        body, mark = (text[:-1].rstrip(), "?") if text.endswith("?") else (text, "")
        text = (
            f"{body[:-1]}, {', '.join(missing)}){mark}"
            if body.endswith(")")
            else f"{body} ({', '.join(missing)}){mark}"
        )
    return text[:1].upper() + text[1:]


def _replaced(
    text: str, mentioned: Sequence[Referent], is_a: Callable[[Referent, str], bool], language: Language
) -> str:
    common, names_class = language.words, language.answer_types.names_class
    # too often they point at nothing that was named: "that year", "the one that", "there is"
    replaceable = common.personal - common.pronouns["place"]
    alike = (*common.genders.values(), *common.pronouns.values())  # of one gender, or else of one kind
    empty = {match.start(1) for match in language.conversation.empty_pronoun.finditer(text)}
    parts: list[str] = []
    shown: list[Referent] = []
    spoken: set[frozenset[str]] = set()
    end = 0
    words = list(_WORD.finditer(text))
    for number, word in enumerate(words):
        if word.start() < end or word.start() in empty:
            continue
        low = word[0].lower()
        following = words[number + 1] if number + 1 < len(words) else None
        noun = following[0].lower() if following else ""
        behind = words[number + 2][0].lower() if number + 2 < len(words) else ""  # "the film series"
        rest = [referent for referent in mentioned if referent not in shown]
        name, until = None, word.end()
        points = low in common.definite or low in common.pointing
        if points and following and not shown and rest and language.conversation.that_one.match(text, word.start()):
            name, until = rest[0], following.end()
            put = name.label
        elif points and following and not shown and names_class(noun) and not names_class(behind):
            name, until = next((referent for referent in rest if is_a(referent, noun)), None), following.end()
            put = f"the {noun} {name.label}" if name is not None else ""
        elif low in replaceable and (forms := next(own for own in alike if low in own)) not in spoken:
            fitting = [referent for referent in rest if may_mean(low, referent, common)]
            has_gender = any(low in forms for forms in common.genders.values())
            known = [referent for referent in fitting if has_gender and referent.gender]
            name = next(iter((*known, *fitting)), None)
            if name is not None:
                put = common.owner(name.label) if common.owns(low, noun) else name.label
                spoken.add(forms)
        if name is not None:
            parts += [text[end : word.start()], put]
            shown.append(name)
            end = until
    return "".join((*parts, text[end:]))
