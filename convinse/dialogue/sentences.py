"""An answer as a sentence with citations, by the form of its question: "James Cameron directed Titanic [1]."."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..language.language import Language
from ..language.statements import AnswerStatement, statement_of, verdict_of
from ..language.text import fold
from ..records.conversation import RankedAnswer, Turn
from ..records.literals import is_date, is_number
from ..records.units import UNIT

_ADDED = re.compile(r" \([^()]*\)(?=\W*$)")  # the topic that rewriting adds to a question
_MEASURE = re.compile(r"([\d.,]+) ([a-z]+)")
_YES_NO = ("Yes", "No")


def sentence_of(turn: Turn, language: Language) -> str:
    """Return the sentence that answers a turn; "The answer is ..." if the form of its question is unknown."""
    if "abstained" in turn:
        return f"I do not know: {turn['abstained']['reason']}."
    answers = turn["pred_answers"]
    if not answers:
        return "I do not know: nothing was found."
    listed = [answer for answer in answers if answer.get("list")] or answers[:1]
    question = turn.get("resolved_question", turn["question"])
    if not _ADDED.search(turn["question"]):  # the brackets were added
        question = _ADDED.sub("", question)
    names = list(_names(turn))
    for name in names:  # "titanic" is written as its label
        question = _written(question, name, language)
    places = listed[0].get("evidences", [])
    reasons = [reason["evidence"] for reason in turn.get("attribution", [])]
    numbers = [number for number, place in enumerate(places, 1) if place in reasons] or [1] * bool(places)
    cited = "".join(f" [{number}]" for number in numbers)
    if listed[0]["answer"]["id"] in _YES_NO:
        verdict = listed[0]["answer"]["label"]
        said = verdict_of(language.statements, question, names, is_yes=verdict == _YES_NO[0])
        return f"{verdict}, {said}{cited}." if said else f"{verdict}{cited}."
    statement = statement_of(language.statements, question, names)
    said = _said(statement, listed, language)
    if not said:
        words = language.statements
        labels = words.listed([words.named(_with_unit(answer["answer"]["label"])) for answer in listed])
        said = f"the answers are {labels}" if len(listed) > 1 else f"the answer is {labels}"
    return f"{said[:1].upper()}{said[1:]}{cited}."


def _with_unit(label: str) -> str:
    # the plural of a unit: "112 minutes"
    measure = _MEASURE.fullmatch(label)
    is_one = measure is None or measure[1] == "1" or UNIT.fullmatch(f" {measure[2]}s") is None
    return label if is_one else f"{label}s"


def _said(statement: AnswerStatement | None, listed: Sequence[RankedAnswer], language: Language) -> str:
    if statement is None:
        return ""
    before, behind, counted = statement.before, statement.behind, statement.counted
    label, words = _with_unit(listed[0]["answer"]["label"]), language.statements
    has_words = any(map(str.isalpha, label))
    is_measure = has_words and (is_number(listed[0]["answer"]["id"]) or any(map(str.isdigit, label)))
    if statement.behind in words.measured and not is_measure:
        return ""  # "he is Gloria Stuart old"
    if counted and not has_words:
        if label == "1" and not counted.endswith("s"):
            return ""
        label = f"{label} {counted.removesuffix('s') if label == '1' else counted}"
    if statement.in_time_or_place:
        is_date_or_year = is_date(listed[0]["answer"]["id"]) or label[:1].isdigit()
        says_where = label.split()[0] in words.prepositions  # "above a chalk pit"
        label = label if says_where else f"{words.preposition(label, is_date_or_year)} {words.named(label)}"
    elif not counted:
        label = words.listed([words.named(_with_unit(answer["answer"]["label"])) for answer in listed])
    if len(listed) > 1:
        if statement.in_time_or_place or counted:
            return ""
        behind = words.plural(behind) if statement.verb_behind else behind
        before = f"{before[:-3]} are" if before.endswith(" is") else before
    verb, _, rest = behind.partition(" ")
    if not before and verb in words.being and rest[:1].isupper() and label[:1].islower():
        return f"{rest} {verb} {label}"  # "who is Leonardo DiCaprio": an American actor
    time = listed[0].get("time", "") if len(listed) == 1 else ""
    is_open = time.startswith(("since", "until")) and time.split()[-1] not in f"{before} {behind}"
    lead = f"{before} " if before else ""
    gap = "" if not behind or behind[0] == "'" else " "
    return f"{lead}{label}{gap}{behind}{f', {time}' if is_open else ''}"


def _written(question: str, name: str, language: Language) -> str:
    """Return the question with a name in its usual form: "titanic" with its capital, a national team with its article."""
    before = "|".join(sorted(language.statements.determiners | language.words.possessive))
    named = re.compile(rf"(\b(?:{before}) |'s )?\b{re.escape(name)}(?!\w)", re.IGNORECASE)
    with_article = language.statements.named(name) if name.endswith(" team") else name
    written = named.sub(lambda match: f"{match[1]}{name}" if match[1] else with_article, question)
    return re.sub(r"(?<=s)'s\b", "'", written) if name.endswith("s") else written


def _names(turn: Turn) -> Iterator[str]:
    representation = turn.get("representation")
    if representation:
        spoken = {entity["item"]["id"]: entity["question_word"] for entity in representation.get("candidates", [])}
        for entity in (*representation["entities"], *representation["context"]):
            word = spoken.get(entity["id"], "")
            yield entity["label"] if fold(word) == fold(entity["label"]) or not word else word
            yield entity["label"]
