"""Replies to acts of talk, in a sentence; those about an answer are from the last turn that has one."""

from __future__ import annotations

from collections.abc import Sequence

from ..config import LIVE
from ..documents.index import DocumentIndex
from ..language.statement_words import StatementWords
from ..records.conversation import RankedAnswer, Turn
from ..records.evidence import shown_citation
from ..resources import Resources
from .answered_turns import confidence
from .examples import examples_of

LEAST = 0.02  # probability of an answer that is worth naming
_LONGEST_EVIDENCE = 300  # characters
_SHOWN = 5
_EXAMPLES = 3
_FIXED = {
    "greeting": "Hello. What would you like to know?",
    "thanks": "You are welcome.",
    "goodbye": "Goodbye.",
    "affirm": "Good. What else would you like to know?",
}
_SOURCES = {"kb": "facts of Wikidata", "text": "sentences of Wikipedia", "table": "its tables", "info": "its infoboxes"}
_FROM = {"kb": "Wikidata", "text": "a text", "table": "a table", "info": "an infobox"}
NOTHING = "Nothing has been answered yet."


def reply(act: str, last: Turn | None, sources: Sequence[str], resources: Resources) -> str:
    """The sentence that answers an act.

    Args:
        act: of `ACTS`, no question.
        last: the last turn that has an answer, if there is one.
        sources: of the conversation.
        resources: what is known.
    """
    if act in _FIXED:
        return _FIXED[act]
    if act == "help":
        return _help(resources)
    if act == "sources":
        return _known(sources, resources)
    if last is None or not last["pred_answers"]:
        return NOTHING
    return {"denial": _alternatives, "doubt": _doubt, "reason": _reason, "repeat": _repeat}[act](last)


def _percent(score: float) -> str:
    return f"{100 * score:.0f} %"


def _named(answers: Sequence[RankedAnswer]) -> list[str]:
    return [f"{own['answer']['label']} ({_percent(own['score'])})" for own in answers]


def _shown(last: Turn) -> list[RankedAnswer]:
    answers = last["pred_answers"]
    return [own for own in answers if own.get("list")][:_SHOWN] or answers[:1]


def _alternatives(last: Turn) -> str:
    rest = [own for own in last["pred_answers"] if own not in _shown(last) and own["score"] >= LEAST][: _EXAMPLES - 1]
    return (
        f"Then perhaps {StatementWords.listed(_named(rest), 'or')}."
        if rest
        else "Then I do not know: no other answer is likely."
    )


def _doubt(last: Turn) -> str:
    best = last["pred_answers"][0]
    name, score = best["answer"]["label"], best["score"]
    if "abstained" in last:
        return f"No: {last['abstained']['reason']}. {name} is a guess ({_percent(score)})."
    return f"{confidence(last).capitalize()}: {name} is {_percent(score)} probable.{_evidence(last)}"


def _reason(last: Turn) -> str:
    name = last["pred_answers"][0]["answer"]["label"]
    evidence = _evidence(last)
    return (
        f"{name} ({_percent(last['pred_answers'][0]['score'])}):{evidence}"
        if evidence
        else f"No evidence is named for {name}."
    )


def _evidence(last: Turn) -> str:
    evidences = last.get("top_evidences", [])
    if not evidences:
        return ""
    text, place = evidences[0]["evidence_text"], shown_citation(evidences[0])
    text = text if len(text) <= _LONGEST_EVIDENCE else f"{text[: _LONGEST_EVIDENCE - 1]}…"
    return f" “{text}” ({place or _FROM[evidences[0]['source']]})."


def _repeat(last: Turn) -> str:
    names = [own["answer"]["label"] for own in _shown(last)]
    guess = ", at best; no answer is sure" if "abstained" in last else ""
    return f"{StatementWords.listed(names)}{guess}."


def _help(resources: Resources) -> str:
    questions = [own.questions[0] for own in examples_of(resources)][:_EXAMPLES]
    examples = (
        f", such as {StatementWords.listed([f'“{question}”' for question in questions], 'or')}" if questions else ""
    )
    return (
        f"Ask a question{examples}. Then ask on (“when was she born?”), “why?”, “are you sure?”, or say what you meant."
    )


def _known(sources: Sequence[str], resources: Resources) -> str:
    if isinstance(resources.wikipedia, DocumentIndex):
        files = [name for name, fault in resources.wikipedia.files() if not fault]
        more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
        return f"Answers are from your files: {', '.join(files[:_SHOWN])}{more}."
    live = ", looked up when you ask" if resources.config.kb_path == LIVE else ""
    return f"Answers are from {StatementWords.listed([_SOURCES[source] for source in sources])}{live}."
