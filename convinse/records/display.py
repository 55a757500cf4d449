"""Turns and conversations as Python returns them: dictionaries with a short form, and tables in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, cast

from .conversation import Conversation, Turn
from .literals import is_document_item, is_item

_ANSWERS, _EVIDENCES, _CHARACTERS = 5, 3, 240  # shown of a turn, and of an evidence
_LEAST = 0.01  # score of a further answer that is shown


class EvidenceRecord(dict[str, Any]):
    """An `Evidence`: a dictionary, shown as its source, score and text."""

    def __repr__(self) -> str:
        return f"<{self._origin}: {_cut(self.get('evidence_text'))}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(_cut(self.get('evidence_text')))} <small>({escape(self._origin)})</small></p>"

    @property
    def _origin(self) -> str:
        return " ".join(filter(None, (str(self.get("source")), _number(self.get("score")))))


class AnswerRecord(dict[str, Any]):
    """A `RankedAnswer`: a dictionary, shown as its rank, label, id and score."""

    def __repr__(self) -> str:
        name = self["answer"]["id"]
        item = f" ({name})" if is_item(name) and not is_document_item(name) else ""
        return f"<{self['rank']}. {self._label}{item}, {_number(self.get('score'))}>"

    def _repr_html_(self) -> str:
        return f"<table>{self._row}</table>"

    @property
    def _label(self) -> str:
        return str(self["answer"].get("label"))

    @property
    def _row(self) -> str:
        return f"<tr><td>{self['rank']}</td><td>{escape(self._label)}</td><td>{_number(self.get('score'))}</td></tr>"


class TurnRecord(dict[str, Any]):
    """A `Turn`: a dictionary, shown as its question and reply."""

    def __init__(self, turn: Mapping[str, Any]) -> None:
        super().__init__(turn)
        for key, kind in (("pred_answers", AnswerRecord), ("top_evidences", EvidenceRecord)):
            if key in turn:
                self[key] = list(map(kind, turn[key]))

    def __repr__(self) -> str:
        evidences = f"; {len(self['top_evidences'])} evidences" if "top_evidences" in self else ""
        return f"<Turn {self.get('turn')}: {self.get('question')!r} -> {self._reply}{evidences}>"

    def _repr_html_(self) -> str:
        answers, evidences = self.get("pred_answers", []), self.get("top_evidences", [])
        places = (answers[0].get("evidences") if answers else None) or range(_EVIDENCES)
        support = [evidences[place] for place in places[:_EVIDENCES] if place < len(evidences)]
        likely = [answer for answer in answers[:_ANSWERS] if answer["rank"] == 1 or answer.get("score", 1) >= _LEAST]
        rows = "".join(answer._row for answer in likely)
        table = f"<table><tr><th></th><th>answer</th><th>score</th></tr>{rows}</table>" if rows else ""
        reply = self.get("sentence") or self._reply
        head = f"<p><b>{escape(str(self.get('question')))}</b></p><p>{escape(reply)}</p>"
        texts = "".join(f"<li>{evidence._repr_html_()}</li>" for evidence in support)
        return f"<div>{head}{table}{f'<ol>{texts}</ol>' if texts else ''}</div>"

    @property
    def _reply(self) -> str:
        if "clarification" in self:
            return str(self["clarification"]["question"])
        answers = self.get("pred_answers", [])
        listed = [answer for answer in answers if answer.get("list")] or answers[:1]
        if not listed:
            return str(self.get("sentence") or "no answer")
        reply = _cut(", ".join(f"{answer._label} ({_number(answer.get('score'))})" for answer in listed))
        return f"not sure: {reply}" if "abstained" in self else reply


class ConversationRecord(dict[str, Any]):
    """A `Conversation`: a dictionary, shown as its last turn."""

    def __repr__(self) -> str:
        turns = self["questions"]
        last = f", last {turns[-1]!r}" if turns else ""
        return f"<Conversation {self.get('conv_id')!r}, turns: {len(turns)}{last}>"

    def _repr_html_(self) -> str:
        return "".join(turn._repr_html_() for turn in self["questions"])


def turn_record(turn: Turn) -> Turn:
    """Return an equal turn that is shown in short."""
    return cast("Turn", TurnRecord(turn))


def conversation_record(conversation: Mapping[str, Any], turns: Iterable[Turn]) -> Conversation:
    """Return a conversation of these turns that is shown in short."""
    return cast("Conversation", ConversationRecord(conversation, questions=list(map(TurnRecord, turns))))


def _number(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float | int) else ""


def _cut(text: Any) -> str:
    text = str(text)
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}..."
