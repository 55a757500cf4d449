"""Questions of several parts: "What is the capital of Australia and who is its prime minister?"."""

from __future__ import annotations

from ..language.language import Language

_LEAST_WORDS = 3  # of a question
_MOST_PARTS = 3


def parts_of(question: str, language: Language) -> list[str]:
    """Return the questions that "and" joins, or the question alone; "who wrote and directed" is not split."""
    types, words = language.answer_types, language.talk
    parts = [part.strip(" ,") for part in words.joined.split(question)]
    if not 1 < len(parts) <= _MOST_PARTS or words.behind_joined.search(question) or question.count('"') > 1:
        return [question]
    for part in parts:
        if len(part.split()) < _LEAST_WORDS or not (types.asks_what(part) or types.is_existential(part)):
            return [question]
    return [f"{part.rstrip(' ?.!')}?" for part in parts]
