"""Files uploaded into conversations; questions of a conversation with files are answered from an index of these alone."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import tempfile
import time
import unicodedata
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from ..dialogue.examples import MOST_EXAMPLES
from ..documents.files import path_of
from ..documents.index import DocumentIndex, settings_over
from ..documents.readers import READERS, reader_of
from ..documents.suggestions import suggested
from ..documents.update import update
from ..encoder.bi_encoder import BiEncoder
from ..pipeline import Pipeline
from ..resources import Resources
from ..support.errors import DataError, one_line
from ..wikipedia.stored_pages import Embedding
from .batch_queue import BatchQueue
from .conversations import ConversationStore
from .stored_files import read_collections, write_collection
from .web_page import ExampleConversation, shown_examples

MOST_FILES = 200  # of a conversation
MOST_BYTES = 30_000_000  # of the files of a conversation
LONGEST_NAME = 200  # bytes; file systems take 255
_BATCH_SIZE = 64  # texts that are embedded at once; between batches, turns of other conversations are answered
_CONTROLS = frozenset(("Cc", "Cs", "Zl", "Zp"))
_UPLOADS_OFF = "uploads are off; a server that others can reach takes files if it is started with --upload"


class FileState(BaseModel):
    """A file of a conversation."""

    name: str
    bytes: int


class FileList(BaseModel):
    """The files of a conversation, and questions that they suggest."""

    files: list[FileState]
    examples: list[ExampleConversation]


class UploadRules(BaseModel):
    """The files that a conversation takes: the ends of their names, their number, and the bytes of a single file."""

    kinds: list[str]
    most_files: int
    most_bytes: int


class _Files:
    # only the holder of the lock may change the files, or answer a question from them
    def __init__(self, folder: Path) -> None:
        self.folder, self.lock = folder, asyncio.Lock()
        self.paths: dict[str, Path] = {}
        self.examples: list[ExampleConversation] = []
        self.pipeline: Pipeline | None = None
        self.is_removed = False

    def check_exists(self) -> None:
        """Raise `HTTPException` (404) if the conversation was deleted."""
        if self.is_removed:
            raise HTTPException(404, "the conversation was deleted meanwhile")


class UploadedFiles:
    """The files of conversations; for use in a single event loop. With a `permanent` folder they are there for a later server, too.

    Conversations without files are about those at and below the `served` paths.

    Files are read and indexed in a thread of their own, and embedded by the thread of the models, a few texts at a time.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        queue: BatchQueue[Any, Any],
        store: ConversationStore,
        most_bytes: int,
        permanent: Path | None = None,
        served: Sequence[Path] = (),
    ) -> None:
        self._pipeline, self._queue, self._store, self._most_bytes = pipeline, queue, store, most_bytes
        self._permanent, self._served = permanent, served
        self._reader = ThreadPoolExecutor(1, "uploads")
        self._files: dict[str, _Files] = {}
        self._encoder: BiEncoder | None = None
        self._numbers = itertools.count(time.time_ns())  # none twice, in a folder of an earlier server either
        self._tasks: set[asyncio.Task[None]] = set()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._folder: Path | None = None

    @property
    def rules(self) -> UploadRules | None:
        """The files that are taken; None if uploads are off."""
        if self._folder is None:
            return None
        return UploadRules(kinds=list(READERS), most_files=MOST_FILES, most_bytes=self._most_bytes)

    def open(self) -> None:
        """Take files from now on."""
        if self._permanent is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="convinse-uploads-")
            self._folder = Path(self._temporary.name)
            return
        self._folder = self._permanent
        for folder, conversations, paths in read_collections(self._permanent):
            files = _Files(folder)
            files.paths = paths
            self._files.update(dict.fromkeys(conversations, files))

    def list_files(self, conversation: str) -> FileList:
        """Return the files of a conversation. Raises `HTTPException` (404)."""
        files = self._files.get(conversation)
        if files is None:
            self._store.get(conversation)
            return FileList(files=[], examples=[])
        states = [FileState(name=name, bytes=path.stat().st_size) for name, path in sorted(files.paths.items())]
        return FileList(files=states, examples=files.examples)

    async def put(self, conversation: str, name: str, data: bytes) -> None:
        """Add a file to a conversation, in place of a file of the same name.

        Raises `HTTPException`, and changes nothing: uploads are off (403), the conversation is unknown (404), the name is bad (400), the
            kind is not read (415), the file is damaged (422), or there would be too many files or bytes (413).
        """
        check_name(name)
        self._store.get(conversation)
        if self._folder is None:
            raise HTTPException(403, _UPLOADS_OFF)
        files = self._files.setdefault(conversation, _Files(self._folder / conversation))
        async with files.lock:
            files.check_exists()
            path = files.folder / str(next(self._numbers)) / name
            paths = {**files.paths, name: path}
            size = len(data) + sum(file.stat().st_size for stored, file in files.paths.items() if stored != name)
            if len(paths) > MOST_FILES:
                raise HTTPException(413, f"{name}: the conversation has {MOST_FILES} files; remove some")
            if size > MOST_BYTES:
                raise HTTPException(
                    413, f"{name}: the files of a conversation have {MOST_BYTES} bytes at most; remove some"
                )
            await self._change(files, paths, path, data)
            self._write(files)

    async def remove(self, conversation: str, name: str) -> None:
        """Remove a file; without files, questions are answered from the server's data again. Raises `HTTPException` (404)."""
        self._store.get(conversation)
        files = self._files.get(conversation)
        if files is None:
            raise HTTPException(404, "the conversation has no such file")
        async with files.lock:
            paths = {stored: path for stored, path in files.paths.items() if stored != name}
            if len(paths) == len(files.paths):
                raise HTTPException(404, "the conversation has no such file")
            if paths:
                await self._change(files, paths)
                self._write(files)
            else:
                await self._clear(files)

    async def remove_all(self, conversation: str) -> None:
        """Remove all files of a conversation. Raises `HTTPException` (404)."""
        self._store.get(conversation)
        if (files := self._files.get(conversation)) is not None:
            async with files.lock:
                await self._clear(files)

    def share(self, conversation: str, other: str) -> None:
        """Let a conversation be about the files of another one; they are there until the last of such conversations is gone."""
        if (files := self._files.get(other)) is not None:
            self._files[conversation] = files
            self._write(files)

    def has(self, conversation: str) -> bool:
        """Return True if a conversation has files."""
        files = self._files.get(conversation)
        return files is not None and bool(files.paths)

    def path_of(self, conversation: str, name: str) -> Path | None:
        """Return the path of a file that a conversation is about by its name in citations; None if it is unknown."""
        if self.has(conversation):
            return self._files[conversation].paths.get(name)
        return path_of(name, self._served)

    @asynccontextmanager
    async def pipeline_of(self, conversation: str) -> AsyncIterator[Pipeline]:
        """Yield the pipeline that answers a conversation, once its files are indexed. Raises `HTTPException` (404)."""
        files = self._files.get(conversation)
        if files is None:
            yield self._pipeline
            return
        async with files.lock:
            files.check_exists()
            if files.pipeline is None and files.paths:  # of an earlier server
                await self._change(files, files.paths)
            yield files.pipeline or self._pipeline

    def drop(self, conversation: str) -> None:
        """Forget a conversation that made room for others; the files of one whose folder is kept stay."""
        if self._permanent is None:
            self.forget(conversation)

    def forget(self, conversation: str) -> None:
        """Remove the files of a conversation that the store removed, as soon as nothing uses them."""
        files = self._files.pop(conversation, None)
        if files is not None and files in self._files.values():
            self._write(files)
        elif files is not None:
            files.is_removed = True
            task = asyncio.create_task(self._forget(files))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        """Remove all files that are not kept, after the queue is closed."""
        self._reader.shutdown(cancel_futures=True)
        for files in {*self._files.values()}:
            if files.pipeline is not None:
                files.pipeline.resources.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    def _write(self, files: _Files) -> None:
        if self._permanent is not None:
            about = [conversation for conversation, its in self._files.items() if its is files]
            write_collection(files.folder, about, files.paths)

    async def _change(self, files: _Files, paths: dict[str, Path], new: Path | None = None, data: bytes = b"") -> None:
        """Update the index of a conversation to `paths`; if that fails, it stays as it was."""
        loop = asyncio.get_running_loop()
        name = self._pipeline.config.evs_bi_encoder
        if name and self._encoder is None:
            self._encoder = await self._queue.run(lambda: self._pipeline.resources.bi_encoder(name, "evs_bi_encoder"))

        def index_files() -> list[ExampleConversation]:
            if new is not None:
                new.parent.mkdir(parents=True)
                new.write_bytes(data)
            update(files.folder, list(paths.values()), self._embedding(files, loop), strict=True)
            with closing(DocumentIndex(files.folder)) as index:
                return shown_examples(suggested(index, MOST_EXAMPLES))

        remaining = files.paths.values()
        try:
            files.examples = await loop.run_in_executor(self._reader, index_files)
            if files.pipeline is None:
                files.pipeline = await self._queue.run(lambda: self._pipeline_over(files.folder))
            remaining, files.paths = paths.values(), paths
        except DataError as error:
            raise HTTPException(422, one_line(error)) from None
        finally:
            for path in {*files.folder.glob("*/*")} - {*remaining}:
                shutil.rmtree(path.parent, ignore_errors=True)

    def _pipeline_over(self, folder: Path) -> Pipeline:
        served = self._pipeline
        config = msgspec.structs.replace(served.config, **settings_over(folder), ers_use_cache=False)
        pipeline = Pipeline(config, resources=Resources(config, models=served.resources.models))
        pipeline.seconds = served.seconds  # the figures of the service
        return pipeline

    def _embedding(self, files: _Files, loop: asyncio.AbstractEventLoop) -> Embedding | None:
        encoder = self._encoder
        if encoder is None:
            return None

        def embed(texts: Sequence[str]) -> np.ndarray:
            vectors = []
            for start in range(0, len(texts), _BATCH_SIZE):
                files.check_exists()
                batch = texts[start : start + _BATCH_SIZE]
                embedding = self._queue.run(lambda batch=batch: encoder.embed(batch))  # type: ignore[misc]
                vectors.append(asyncio.run_coroutine_threadsafe(embedding, loop).result())
            return np.concatenate(vectors)

        return Embedding(encoder.weights_id, encoder.dimension, encoder.row_form, embed)

    async def _forget(self, files: _Files) -> None:
        async with files.lock:
            await self._clear(files)

    async def _clear(self, files: _Files) -> None:
        pipeline, files.pipeline, files.paths, files.examples = files.pipeline, None, {}, []
        if pipeline is not None:
            with suppress(HTTPException):  # the queue is full: open files are closed with the last reference to them
                await self._queue.run(pipeline.resources.close)
        await asyncio.to_thread(shutil.rmtree, files.folder, ignore_errors=True)


def check_name(name: str) -> None:
    """Raise `HTTPException` (400, 415) for a name that an uploaded file may not have."""
    shown = name.encode("unicode_escape").decode()[:LONGEST_NAME]
    if any(unicodedata.category(letter) in _CONTROLS or letter in "/\\" for letter in name):
        raise HTTPException(400, f"{shown}: a name of a file has no slashes and no control characters")
    if len(name.encode()) > LONGEST_NAME:
        raise HTTPException(400, f"{shown}: a name of a file has {LONGEST_NAME} bytes at most")
    if reader_of(name) is None:
        raise HTTPException(415, f"{name}: files of this kind are not read, only {' '.join(READERS)}")
