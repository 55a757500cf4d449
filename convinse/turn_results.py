"""The results of modules: checked, stored in the turns and measured.

A module returns its result. CONVINSE's own modules may write it into the turn and return nothing, or the turn. A returned
result counts more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from .records.answer_spans import answer_spans
from .records.conversation import RankedAnswer, Turn, Understanding, answers_in_own_form, stored_answers
from .records.evidence import Evidence, check_evidence
from .records.evidence_structure import in_own_form, structured
from .records.replies import SpokenReply
from .records.representation import Representation, render
from .scoring.convqa import add_answer_metrics, add_answer_presence
from .support.errors import ModuleError, one_line

_DELIMITER = " || "  # of representations that a module gives as fields only
_PRESENCE = ("answer_presence", "answer_presence_per_src")
_ADDED = {
    "qu": tuple(Understanding.__annotations__),
    "ers": ("top_evidences", "question_entities", *_PRESENCE),
    "ha": (
        "pred_answers",
        "ranked_answers",
        "abstained",
        "ha_tokens",
        "p_at_1",
        "mrr",
        "h_at_5",
        *SpokenReply.__annotations__,
    ),
}


def remove_results(turn: Turn, stages: Iterable[str] = tuple(_ADDED)) -> None:
    """Remove what stages added to a turn."""
    for key in (key for stage in stages for key in _ADDED[stage]):
        turn.pop(key, None)  # type: ignore[misc]


def results_of(module: object, returned: Any, turns: Sequence[Turn]) -> list[Any]:
    """Return what a module returned for several turns: a list of results. None means that it has written into the turns."""
    if returned is None:
        return [None] * len(turns)
    if not isinstance(returned, list) or len(returned) != len(turns):
        returned_form = f"{len(returned)}" if isinstance(returned, list) else type(returned).__name__
        raise ModuleError(
            f"{type(module).__name__}: inference_on_turns must return a list of {len(turns)} results, not {returned_form}"
        )
    return returned


def keep_understanding(module: object, turn: Turn, returned: Any) -> None:
    """Store the representation of a turn: a string, or an `Understanding`; one that has fields only is rendered.

    Raises:
        ModuleError: it is neither, or has no representation, or its fields have another form.
    """
    if isinstance(returned, dict):
        turn.update(returned)  # type: ignore[typeddict-item]
    elif returned is not None:
        turn["structured_representation"] = str(returned)
    if "representation" in turn:
        try:
            fields = msgspec.convert(turn["representation"], Representation)
        except msgspec.ValidationError as error:
            raise ModuleError(f"{_where(module, turn)}: representation: {one_line(error).replace('$.', '')}") from None
        turn.setdefault("structured_representation", render(fields, _DELIMITER))
    if not isinstance(turn.get("structured_representation"), str):
        raise ModuleError(
            f"{_where(module, turn)}: inference_on_turn must return a representation: a string, or a dictionary with "
            "'structured_representation' or 'representation'"
        )


def keep_evidences(
    module: object, turn: Turn, returned: Any, sources: Sequence[str], most: int | None = None
) -> list[Evidence]:
    """Check the evidences of a turn (`most` at most), add their structure, store them and measure the answer presence.

    Raises:
        ModuleError: the module broke its contract; the message names it, the turn and the fault.
    """
    evidences = turn.get("top_evidences") if returned is None or returned is turn else returned
    where = _where(module, turn)
    if not isinstance(evidences, list):
        raise ModuleError(f"{where}: inference_on_turn must return a list of evidences, not {type(evidences).__name__}")
    if most is not None and len(evidences) > most:
        raise ModuleError(
            f"{where}: {len(evidences)} evidences, but evs_max_evidences is {most}; return the best ones only"
        )
    evidences = [in_own_form(evidence) for evidence in evidences]
    for evidence in evidences:
        check_evidence(evidence, where)
    turn["top_evidences"] = [structured(evidence) for evidence in evidences]
    for key in _PRESENCE:  # of other evidences
        turn.pop(key, None)  # type: ignore[misc]
    add_answer_presence(turn, sources)
    return turn["top_evidences"]


def keep_answers(module: object, turn: Turn, returned: Any, most: int | None = None) -> list[RankedAnswer]:
    """Check the answers of a turn, store the best `most` and all of a list, with their places in the evidences, and measure them."""
    answers = stored_answers(turn) if returned is None or returned is turn else answers_in_own_form(returned)
    where = _where(module, turn)
    if not isinstance(answers, list):
        raise ModuleError(f"{where}: inference_on_turn must return a list of answers, not {type(answers).__name__}")
    for place, answer in enumerate(answers, 1):
        entity = answer.get("answer") if isinstance(answer, dict) else None
        if not isinstance(entity, dict) or not isinstance(entity.get("id"), str) or answer.get("rank") != place:
            raise ModuleError(
                f"{where}: answer {place} must be {{'answer': {{'id', 'label'}}, 'score', 'rank': {place}}}"
            )
    turn["pred_answers"] = answers[:most] + [answer for answer in answers[len(answers[:most]) :] if answer.get("list")]
    for answer in turn["pred_answers"]:
        if spans := answer_spans(answer, turn.get("top_evidences", [])):
            answer["spans"] = spans
    add_answer_metrics(turn)
    return turn["pred_answers"]


def _where(module: object, turn: Turn) -> str:
    return f"{type(module).__name__} on turn {turn.get('question_id', turn.get('turn', '?'))}"
