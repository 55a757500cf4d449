"""Requests about the files of a conversation: uploads, and passages in their surroundings."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException

from ..documents.cited_passages import ShownPassage, surroundings
from .service import ConversationId, RequestError, Service
from .uploads import FileList

MOST_PASSAGES = 1_000  # before and behind a cited one
router = APIRouter(responses={"default": {"model": RequestError}})
_BINARY = {
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    "required": True,
}


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
) -> dict[str, list[ShownPassage]]:
    """Read the `passages` around a cited one, and that, by the file of its citation and its text; or the `whole` file."""
    service.store.get(conversation)
    async with service.files.pipeline_of(conversation) as pipeline:

        def work() -> list[ShownPassage]:
            index = pipeline.resources.documents
            return [] if index is None else surroundings(index, file, text, *([MOST_PASSAGES] if whole else []))

        passages = await service.queue.run(work)
    if not passages:
        raise HTTPException(404, "no such passage: the file has changed or is gone")
    return {"passages": passages}
