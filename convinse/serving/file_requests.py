"""Requests about the files of a conversation: uploads, passages in their surroundings, and pages of PDF files."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ..documents.cited_passages import CitedPage, ShownPassage, cited_page, drawn_evidence, surroundings
from ..documents.quotes import content_of
from ..documents.readers.pdf_pages import draw_page
from ..records.evidence import Evidence
from ..support.errors import DataError, one_line
from .service import ConversationId, RequestError, Service
from .uploads import FileList

MOST_PASSAGES = 1_000  # before and behind a cited one
router = APIRouter(responses={"default": {"model": RequestError}})
_BINARY = {
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    "required": True,
}
_PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}}
}
_CHANGED = "the file has changed or is gone"


class CitedPassages(BaseModel):
    """Passages around a cited one; of a PDF file that the server can open, also its `page`, else null."""

    passages: list[ShownPassage]
    page: CitedPage | None


@router.get("/v1/conversations/{id}/files")
async def list_files(service: Service, conversation: ConversationId) -> FileList:
    """List the files of a conversation, and questions that they suggest."""
    return service.files.list_files(conversation)


@router.put("/v1/conversations/{id}/files/{name}", openapi_extra={"requestBody": _BINARY})
async def put_file(service: Service, conversation: ConversationId, name: str, request: Request) -> FileList:
    """Add a file, its bytes as the body, or put it in place of the one of its name; the conversation is about its files alone."""
    await service.files.put(conversation, name, await request.body())
    return service.files.list_files(conversation)


@router.delete("/v1/conversations/{id}/files/{name}")
async def remove_file(service: Service, conversation: ConversationId, name: str) -> FileList:
    """Remove a file; without any the conversation is about the served data again."""
    await service.files.remove(conversation, name)
    return service.files.list_files(conversation)


@router.delete("/v1/conversations/{id}/files")
async def remove_files(service: Service, conversation: ConversationId) -> FileList:
    """Remove all files; the conversation is about the served data again."""
    await service.files.remove_all(conversation)
    return service.files.list_files(conversation)


@router.get("/v1/conversations/{id}/passages")
async def read_passages(
    service: Service, conversation: ConversationId, file: str, text: str, whole: bool = False
) -> CitedPassages:
    """Read the `passages` around a cited one, and that, by the file of its citation and its text; or the `whole` file."""
    service.store.get(conversation)
    async with service.files.pipeline_of(conversation) as pipeline:

        def look_up() -> tuple[list[ShownPassage], tuple[Evidence, str, str] | None]:
            index = pipeline.resources.documents
            if index is None:
                return [], None
            passages = surroundings(index, file, text, *([MOST_PASSAGES] if whole else []))
            return passages, drawn_evidence(index, file, text)

        passages, drawn = await service.queue.run(look_up)
        path = service.files.path_of(conversation, file)
    if not passages:
        raise HTTPException(404, f"no such passage: {_CHANGED}")
    page = None
    if drawn is not None and whole:  # in another thread: a long file may be read with PDFium now
        page = await asyncio.to_thread(cited_page, path, *drawn)
    return CitedPassages(passages=passages, page=page)


@router.get("/v1/conversations/{id}/pages/{page}", response_class=Response, responses=_PICTURE)
async def read_page(service: Service, conversation: ConversationId, page: int, file: str) -> Response:
    """Draw a page of a PDF file, from 1, by the name of the file in citations."""
    service.store.get(conversation)
    async with service.files.pipeline_of(conversation) as pipeline:

        def look_up() -> str:
            index = pipeline.resources.documents
            return "" if index is None else index.sha256(file)

        sha256, path = await service.queue.run(look_up), service.files.path_of(conversation, file)

    def draw() -> bytes:
        data = content_of(path, sha256) if file.lower().endswith(".pdf") else b""
        return draw_page(data, page) if data else b""

    try:
        picture = await asyncio.to_thread(draw)
    except DataError as error:
        raise HTTPException(404, f"{file}: {one_line(error)}") from None
    if not picture:
        raise HTTPException(404, f"no such page: the file is no PDF, or {_CHANGED}")
    return Response(picture, media_type="image/png")
