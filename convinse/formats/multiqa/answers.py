"""The answers of MultiQA questions in the published spelling."""

from __future__ import annotations

from typing import Any

from .spelling import CANDIDATES, TYPES, Json


def candidates(question: Json) -> list[Json]:
    """Return the right answers: the annotators' candidates and the right choices (a wrong number is left out)."""
    answers = question.get("answers") or {}
    multi_choice = answers.get("multi-choice") or {}
    choices = multi_choice.get("choices") or []
    correct = [multi_choice.get("correct_answer_index"), *(multi_choice.get("multi_correct_answer_indexes") or [])]
    right = [choices[index] for index in dict.fromkeys(correct) if type(index) is int and index < len(choices)]
    return [*((answers.get("open-ended") or {}).get(CANDIDATES) or []), *right]


def answers_of(candidate: Json) -> list[Json]:
    """Return the answers of all containers of a candidate; empty if an annotator gave only metadata."""
    single = candidate.get("single_answer")
    several = [*(candidate.get("list") or ()), *(candidate.get("set") or ())]
    return [single, *several] if single else several


def cannot_answer(question: Json) -> bool:
    """Return True if the question is marked as having no answer."""
    return ((question.get("answers") or {}).get("open-ended") or {}).get("cannot_answer") == "yes"


def is_answered(question: Json) -> bool:
    """Return True if the question has a gold answer, or is marked as having none."""
    return cannot_answer(question) or any(map(answers_of, candidates(question)))


def spellings(extractive: Json) -> list[str]:
    """Return the answer and its aliases without duplicates."""
    main = extractive.get("answer")
    return list(dict.fromkeys([*([] if main is None else [main]), *(extractive.get("aliases") or [])]))


def texts(answer: Json) -> list[str]:
    """Return all spellings of an answer as text, the main spelling of each type first."""
    listed = spellings(answer.get("extractive") or {})
    listed += [text_of(answer[kind]) for kind in TYPES[1:] if answer.get(kind) is not None]
    return list(dict.fromkeys(filter(None, listed)))


def text_of(value: Any) -> str:
    """Return a value as text; a date of `{"day", "month", "year"}` as `23 April 1734`."""
    if isinstance(value, dict):
        return " ".join(value[key] for key in ("day", "month", "year") if value.get(key))
    return str(value)
