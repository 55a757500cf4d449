"""When a turn is better left without an answer, and why, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..language.language import stop_words
from ..language.text import fold
from ..records.conversation import Turn
from .question import Question
from .ranked_answers import AnswerCandidate

_LANGUAGES = {"de": "German", "es": "Spanish", "fr": "French", "pl": "Polish"}  # whose stop words are known
_RIVAL = 0.5  # of the best answer's probability: what has as much contradicts it
_FOREIGN = 2  # stop words of another language, and more than of the own one


def reason_to_abstain(question: Question, ranked: Sequence[AnswerCandidate], least: float) -> str | None:
    """Why a question is better left without an answer; None if the best answer is likely enough."""
    if language := foreign(
        question.text, question.language.words.common, [entity["label"] for entity in question.about]
    ):
        return f"the question seems to be {language}; only English is understood"
    unknown = unknown_names(question)
    likely = ranked[0].score if ranked else 0.0
    is_untold = bool(question.evidences) and _is_untold(question)
    if likely >= least and not unknown and not is_untold:
        return None
    if unknown:
        return f"nothing is known of {_listed(unknown)}"
    if not question.evidences:
        names = [entity["label"] for entity in question.about]
        return f"nothing was found about {_listed(names)}" if names else "no name in the question is known"
    if is_untold:
        return "no evidence has a word of the question"
    if len(ranked) > 1 and ranked[1].score >= _RIVAL * likely and likely + ranked[1].score >= least:
        first, second = (answer.entity["label"] for answer in ranked[:2])
        return f"the evidences disagree: {first} or {second}"
    return "the evidences do not say"


def note_abstention(turn: Turn, question: Question, ranked: Sequence[AnswerCandidate], least: float) -> None:
    """Write into a turn why it is better left without an answer, if it is."""
    reason = reason_to_abstain(question, ranked, least)
    if reason is not None:
        abstain(turn, reason)


def abstain(turn: Turn, reason: str) -> None:
    """Mark the answers of a turn as suggestions; if something could not be looked up, that is the reason."""
    failures = turn["live"]["failures"] if "live" in turn else []
    turn["abstained"] = {"reason": f"not all could be looked up ({failures[0]})" if failures else reason}


def unknown_names(question: Question) -> list[str]:
    """The names in a question that mean no item and that none of its evidences has."""
    if not question.unlinked:
        return []
    told = " ".join(["", *(fold(evidence["evidence_text"]) for evidence in question.evidences), ""])
    bare = question.language.words.without_article
    return [name for name in question.unlinked if f" {bare(fold(name))} " not in told]


def _is_untold(question: Question) -> bool:
    """Whether no evidence has a keyword of a question about documents, which nothing else tells to be about something else."""
    keywords = question.language.properties.keywords
    asked = frozenset[str]() if question.knowledge.kb.has_facts else keywords(question.in_full)
    return bool(asked) and all(asked.isdisjoint(keywords(own["evidence_text"])) for own in question.evidences)


def foreign(question: str, common: frozenset[str], names: Iterable[str] = ()) -> str | None:
    """The language that a question seems to be in, by its stop words; None if it is in the own one."""
    named = {word for name in names for word in fold(name).split()}
    words = [word for word in fold(question).split() if word not in named]
    own = sum(word in common for word in words)
    counts = {code: sum(word in stop_words(code) for word in words) for code in _LANGUAGES}
    code = max(counts, key=lambda name: counts[name])
    return _LANGUAGES[code] if counts[code] >= _FOREIGN and counts[code] > own else None


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)
