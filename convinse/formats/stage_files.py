"""Files of conversations that stages have worked on already: those of `pipeline --until`, and CONVINSE's of its QU and ERS stages.

A file of the QU stage has a `structured_representation` in every turn, one of the ERS stage `top_evidences`, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from ..records.conversation import Conversation, HistoryPart, Turn
from ..records.evidence import check_evidence, check_values, normalize_source
from ..records.evidence_structure import in_own_form
from ..records.representation import QuestionEntity, Representation
from ..support.errors import DataError
from .conversations.benchmark import read_benchmark

_UNDERSTANDING: dict[str, Any] = {
    "representation": Representation | None,
    "resolved_question": str | None,
    "history_used": list[HistoryPart] | None,
    "question_entities": list[QuestionEntity] | None,
}


def read_stage_file(path: Path, sources: Sequence[str], most: int) -> tuple[Literal["qu", "ers"], list[Conversation]]:
    """Return the last stage whose results all turns of a stage file have, and its conversations, evidences in the project's form.

    The file is a JSON list, or has one conversation a line. Raises `DataError`.

    Args:
        path: the file.
        sources: of the evidences.
        most: evidences of a turn that are allowed.
    """
    conversations = read_benchmark(path, "convmix")
    turns = [
        (turn, f"{path}: conversation '{conversation['conv_id']}', turn {turn.get('turn', index)}")
        for conversation in conversations
        for index, turn in enumerate(conversation["questions"])
    ]
    retrieved = any("top_evidences" in turn for turn, _ in turns)
    for turn, where in turns:
        if not isinstance(turn.get("structured_representation"), str):
            raise DataError(
                f"{where}: no 'structured_representation'; give a file that the stage qu or ers wrote to its end"
            )
        check_values(turn, _UNDERSTANDING, where)
        if retrieved:
            _take_evidences(turn, where, sources, most)
    return "ers" if retrieved else "qu", conversations


def _take_evidences(turn: Turn, where: str, sources: Sequence[str], most: int) -> None:
    evidences = turn.get("top_evidences")
    if not isinstance(evidences, list):
        raise DataError(f"{where}: no list of 'top_evidences', which other turns have")
    if len(evidences) > most:
        raise DataError(
            f"{where}: {len(evidences)} evidences, but evs_max_evidences is {most}; raise it to use them all"
        )
    turn["top_evidences"] = [in_own_form(evidence) for evidence in evidences]
    for evidence in turn["top_evidences"]:
        check_evidence(evidence, where)
        if normalize_source(evidence["source"]) not in sources:
            requested = "_".join(sources)
            raise DataError(
                f"{where}: an evidence of '{evidence['source']}', but {requested} is asked; name the file's sources"
            )
