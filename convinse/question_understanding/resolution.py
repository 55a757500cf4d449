"""The question in full: what was said before takes the place of pronouns and gaps, for models that read sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..language.language import Language
from ..language.text import fold
from .referents import Referent, may_mean

_WORD = re.compile(r"[A-Za-z]+")


def in_full(
    question: str, mentioned: Sequence[Referent], is_a: Callable[[Referent, str], bool], language: Language
) -> str:
    """The question with names for what it leaves to the history.

    Args:
        question: as asked.
        mentioned: what it refers to or is about, without being named in it; the nearest first.
        is_a: whether a referent is of the class that a noun names.
        language: of the question.

    Returns:
        A question that holds all their names: one name in the place of the first pronoun, or behind the first "the film",
        that may mean it; the others follow in parentheses.
    """
    text = language.conversation.opening.sub("", question).strip() or question.strip()
    return _completed(_replaced(text, mentioned, is_a, language), [referent.label for referent in mentioned])


def after(
    before: str, question: str, named: Sequence[Referent], replaced: Sequence[Referent], language: Language
) -> str:
    """The full form of a question that leans on the question before for what it asks ("What about Blade Runner?").

    Args:
        before: the question before, in full.
        question: as asked.
        named: what this question names.
        replaced: what the question before was about.
        language: of the questions.

    Returns:
        The question before with the new name in the place of the old name; where that is not in it, or where this question has
        words of its own besides names ("When?"), both questions.
    """
    rest = language.conversation.about.sub("", language.conversation.opening.sub("", question)).strip()
    for old in sorted(replaced, key=lambda referent: referent.kind != named[0].kind) if named else ():
        name = re.search(rf"(?<!\w){re.escape(old.label)}(?!\w)", before, re.IGNORECASE)
        if name:
            before = f"{before[: name.start()]}{named[0].label}{before[name.end() :]}"
            if not _says_more(rest, named, replaced, language):
                return before
            break
    return _completed(f"{before} {rest}".strip(), [referent.label for referent in named])


def _says_more(rest: str, named: Sequence[Referent], replaced: Sequence[Referent], language: Language) -> bool:
    """Whether a question that leans on another one has words of its own besides the name that it puts in."""
    if language.conversation.question_word.search(rest):
        return True
    in_names = {word for referent in named for word in fold(referent.label).split()}
    own = set(fold(rest).split()) - in_names - language.words.stop_words
    # where it names nothing, all words are its own; else they may be another name of what it names
    return bool(own) if named[0] in replaced else any(map(str.isdigit, own))


def _completed(text: str, names: Sequence[str]) -> str:
    folded = f" {fold(text)} "
    missing = [name for name in dict.fromkeys(names) if f" {fold(name)} " not in folded]
    if missing:
        body, mark = (text[:-1].rstrip(), "?") if text.endswith("?") else (text, "")
        text = f"{body} ({', '.join(missing)}){mark}"
    return text[:1].upper() + text[1:]


def _replaced(
    text: str, mentioned: Sequence[Referent], is_a: Callable[[Referent, str], bool], language: Language
) -> str:
    common, words = language.words, list(_WORD.finditer(text))
    # too often they point at nothing that was named: "that year", "the one that", "there is"
    replaceable = common.personal - common.pronouns["place"]
    for number, word in enumerate(words):
        low = word[0].lower()
        following = words[number + 1] if number + 1 < len(words) else None
        noun = following[0].lower() if following else ""
        points = low in common.definite or low in common.pointing
        if mentioned and language.conversation.that_one.match(text, word.start()):
            return f"{text[: word.start()]}{mentioned[0].label}{text[following.end() if following else word.end() :]}"
        if points and following and language.answer_types.names_class(noun):
            name = next((referent.label for referent in mentioned if is_a(referent, noun)), None)
            if name is not None:
                return f"{text[: word.start()]}the {noun} {name}{text[following.end() :]}"
        if low not in replaceable:
            continue
        fitting = [referent for referent in mentioned if may_mean(low, referent, common)]
        known = [referent for referent in fitting if referent.gender and any(low in forms for forms in common.genders.values())]
        name = next((referent.label for referent in (*known, *fitting)), None)
        if name is not None:
            shown = common.owner(name) if common.owns(low, noun) else name
            return f"{text[: word.start()]}{shown}{text[word.end() :]}"
    return text
