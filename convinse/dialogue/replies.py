"""Replies to acts of talk, in a sentence; replies about an answer are from the last turn with answers."""

from __future__ import annotations

from collections.abc import Sequence

from ..language.text import listed
from ..records.conversation import RankedAnswer, Turn
from ..records.evidence import shown_citation
from ..resources import Resources
from .answered_turns import confidence
from .examples import examples_of

LEAST = 0.02  # probability of an answer that is worth naming
_LONGEST_EVIDENCE = 300  # characters
_SHOWN = 5  # answers, or names of files, in a sentence
_EXAMPLES = 3  # questions that help proposes; answers that a doubtful one is named among
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
    """Return the sentence that answers an act; `last` is the last turn with answers, if any."""
    if act in _FIXED:
        return _FIXED[act]
    if act == "help":
        questions = [f"“{first}”" for _, (first, *_) in examples_of(resources)][:_EXAMPLES]
        examples = f", such as {listed(questions, 'or')}" if questions else ""
        return f"Ask a question{examples}. Then ask on (“when was she born?”), “why?”, “are you sure?”, or say what you meant."
    if act == "sources":
        if resources.documents is not None:
            files = [file.name for file in resources.documents.files() if not file.fault]
            more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
            return f"Answers are from your files: {', '.join(files[:_SHOWN])}{more}."
        live = ", looked up when you ask" if resources.kb.is_live else ""
        return f"Answers are from {listed([_SOURCES[source] for source in sources])}{live}."
    if last is None or not last["pred_answers"]:
        return NOTHING
    answers, best = last["pred_answers"], last["pred_answers"][0]
    name = best["answer"]["label"]
    shown = [ranked for ranked in answers if ranked.get("list")][:_SHOWN] or answers[:1]
    if act == "repeat":
        guess = ", at best; no answer is sure" if "abstained" in last else ""
        return f"{listed([ranked['answer']['label'] for ranked in shown])}{guess}."
    if act == "denial":
        rest = [ranked for ranked in answers if ranked not in shown and ranked["score"] >= LEAST]
        names = [f"{ranked['answer']['label']} ({_percent(ranked)})" for ranked in rest[: _EXAMPLES - 1]]
        if not names:
            return "Then I do not know: no other answer is likely."
        return f"Then perhaps {listed(names, 'or')}."
    evidence = _evidence(last)
    if act == "reason":
        return f"{name} ({_percent(best)}):{evidence}" if evidence else f"No evidence is named for {name}."
    if "abstained" in last:  # doubt
        return f"No: {last['abstained']['reason']}. {name} is a guess ({_percent(best)})."
    return f"{confidence(last).capitalize()}: {name} is {_percent(best)} probable.{evidence}"


def _percent(answer: RankedAnswer) -> str:
    return f"{100 * answer['score']:.0f} %"


def _evidence(last: Turn) -> str:
    evidences = last.get("top_evidences", [])
    if not evidences:
        return ""
    text, place = evidences[0]["evidence_text"], shown_citation(evidences[0])
    text = text if len(text) <= _LONGEST_EVIDENCE else f"{text[: _LONGEST_EVIDENCE - 1]}…"
    return f" “{text}” ({place or _FROM[evidences[0]['source']]})."
