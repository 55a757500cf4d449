"""Feedback on answers: a request, and the file that keeps it."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from ..dialogue.dialogue import remembered
from ..records.conversation import Turn
from ..records.feedback import AnsweredQuestion, Feedback, read_feedback
from ..support.errors import DataError
from ..support.files import append_line
from ..support.jsonlines import encoded
from .service import ConversationId, RequestError, Service

_CHECKSUM = 16  # hexadecimal digits
router = APIRouter(responses={"default": {"model": RequestError}})


class FeedbackRequest(BaseModel):
    """A rating of a turn's answer, by the turn's number; `answer` is the right one, in words or as an id."""

    model_config = ConfigDict(extra="forbid", strict=True)

    turn: int
    rating: Literal["up", "down"]
    answer: Annotated[str, Field(max_length=200)] = ""
    comment: Annotated[str, Field(max_length=1000)] = ""


@router.post("/v1/conversations/{id}/feedback", status_code=204)
async def give_feedback(service: Service, name: ConversationId, body: FeedbackRequest) -> None:
    """Rate an answer; of several ratings of a turn the last one counts."""
    file = service.options.feedback
    if file is None:
        raise HTTPException(403, "feedback is not kept; start the server with --feedback FILE")
    if service.files.list_files(name).files:
        raise HTTPException(403, "the conversation has files, of which nothing is kept")
    session = service.store.get(name)
    turns = (await asyncio.to_thread(lambda: session.conversation))["questions"]
    numbers = [turn.get("turn", place) for place, turn in enumerate(turns)]
    if body.turn not in numbers:
        raise HTTPException(400, f"turn: the conversation has no turn {body.turn}")
    place = numbers.index(body.turn)
    rated = next(remembered(turns[place : place + 1]), None)
    if rated is None:
        raise HTTPException(400, f"turn: {body.turn} asks nothing that can be rated")
    feedback = Feedback(
        conversation=hashlib.sha256(name.encode()).hexdigest()[:_CHECKSUM],
        history=[_answered(turn) for turn in remembered(turns[:place])],
        rated=_answered(rated),
        rating=body.rating,
        answer=" ".join(body.answer.split()),
        comment=body.comment,
    )
    await asyncio.to_thread(append_line, file, encoded(file, feedback) + b"\n")


def check_feedback_file(path: Path) -> None:
    """Raise `DataError` unless a file is missing, empty, or begins with feedback."""
    if path.exists() and path.stat().st_size and next(read_feedback(path), None) is None:
        raise DataError(f"{path}: is not a file of feedback; name another one")


def _answered(turn: Turn) -> AnsweredQuestion:
    ranked = turn["pred_answers"]
    answers = [answer["answer"] for answer in ranked if answer.get("list")] or [
        answer["answer"] for answer in ranked[:1]
    ]
    return AnsweredQuestion(turn["question"], answers)
