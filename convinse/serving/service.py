"""The state of a service: its options, its pipeline's queue, its conversations and their files."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request
from fastapi import Path as PathParameter
from pydantic import BaseModel

from ..config import SNAPSHOT, resolve
from ..dialogue.examples import examples_of
from ..encoder.tokens import TokenCounter
from ..pipeline import Pipeline
from ..records.evidence import DEFAULT_SOURCES, parse_sources
from .app import MOST_BYTES
from .batch_queue import MOST_WAITING
from .conversations import ConversationStore
from .metrics import ServiceMetrics
from .turns import TurnQueue
from .uploads import UploadedFiles
from .web_page import ExampleConversation, shown_examples


@dataclass(frozen=True)
class ServiceOptions:
    """How the service is run.

    Attributes:
        sources: for requests that name none.
        most_conversations: in memory; a further one takes the place of the one that was used longest ago.
        token: of requests; None if they need none.
        origins: other sites whose pages may ask.
        hosts: names of the server besides those of this machine; see `RequestGuard`.
        most_bytes: of all conversations in memory.
        turn_seconds: for a turn, its time in the queue counted.
        most_waiting: turns in the queue.
        over: the absolute paths of the served files, so that pages of PDF files can be drawn.
        uploads: whether conversations take files.
        files_folder: where these files are kept until they are removed; None: until the server ends.
    """

    sources: str | Sequence[str] = DEFAULT_SOURCES
    most_conversations: int = 1000
    token: str | None = None
    origins: Sequence[str] = ()
    hosts: Sequence[str] = ()
    most_bytes: int = 256_000_000
    turn_seconds: float = 60.0
    most_waiting: int = MOST_WAITING
    over: Sequence[Path] = ()
    uploads: bool = False
    files_folder: Path | None = None


class ConversationService:
    """The state behind the requests; belongs to one event loop, and has its pipeline alone."""

    def __init__(self, pipeline: Pipeline, options: ServiceOptions) -> None:
        self.pipeline, self.options = pipeline, options
        self.sources = parse_sources(options.sources)
        self.metrics = ServiceMetrics()
        self.queue = TurnQueue(pipeline, self.metrics, options.turn_seconds, options.most_waiting)
        self.store = ConversationStore(
            options.most_conversations,
            options.most_bytes,
            self.metrics,
            lambda name: self.files.forget(name),
            lambda name: self.files.drop(name),
            lambda name: self.files.has(name),
        )
        self.files = UploadedFiles(pipeline, self.queue, self.store, MOST_BYTES, options.files_folder, options.over)
        self.metrics.add_gauge("conversations", "Conversations in memory.", self.store.__len__)

    def open(self) -> None:
        """Begin to take files if the options say so."""
        if self.options.uploads:
            self.files.open()

    def close(self) -> None:
        """Wait until nothing uses the pipeline, and remove the files of conversations that are not kept."""
        self.queue.close()
        self.files.close()

    @functools.cached_property
    def tokens(self) -> TokenCounter:
        """The counter of chat completions."""
        return TokenCounter(resolve(SNAPSHOT + "model"))

    @functools.cached_property
    def examples(self) -> list[ExampleConversation]:
        """The conversations to begin with."""
        return shown_examples(examples_of(self.pipeline.resources))


class RequestError(BaseModel):
    """The reason why a request is not answered."""

    error: str


async def service_of(request: Request) -> ConversationService:
    """Return the service of a request."""
    service: ConversationService = request.app.state.service
    return service


Service = Annotated[ConversationService, Depends(service_of)]
ConversationId = Annotated[str, PathParameter(alias="id")]
