"""Files of tasks, as CLOCQ's own task handler reads them: a JSON list of calls of the client's functions."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ..formats.convmix import read_records
from ..support.errors import DataError, one_line
from ..support.http_work import RefusedError
from ..support.jsonlines import writing
from .server import ClocqService

LOGGER = logging.getLogger(__name__)
_PATHS = {
    "get_label": "/item_to_label",
    "get_labels": "/item_to_labels",
    "get_aliases": "/item_to_aliases",
    "get_description": "/item_to_description",
    "get_types": "/item_to_types",
    "get_type": "/item_to_type",
    "get_frequency": "/frequency",
    "get_neighborhood": "/neighborhood",
    "get_neighborhood_two_hop": "/two_hop_neighborhood",
    "connect": "/connect",
    "connectivity_check": "/connectivity_check",
    "get_search_space": "/search_space",
    "entity_linking": "/entity_linking",
    "relation_linking": "/relation_linking",
}
_KEYS = {"kb_item": "item", "kb_item1": "item1", "kb_item2": "item2"}  # of a task -> of the API's request


def answer_tasks(service: ClocqService, tasks: Path, output: Path) -> int:
    """Write the answer of every task as one line of JSON; how many there are.

    As in CLOCQ, a task that lacks an argument is passed over, with a warning.

    Raises:
        DataError: the file cannot be read, or has a task that is none; nothing is written then.
    """
    requests = list(_requests(service, tasks))
    with writing(output) as write:
        for function, request, place in requests:
            try:
                write(function(request))
            except RefusedError as error:
                raise DataError(f"{place}: {error}") from None
    return len(requests)


def _requests(service: ClocqService, path: Path) -> Iterator[tuple[Any, msgspec.Struct, str]]:
    """What answers each task, its request, and its place in the file."""
    tasks, functions = read_records(path), service.functions
    if not isinstance(tasks, list):
        raise DataError(f"{path}: expected a list of tasks, found {type(tasks).__name__}")
    for number, task in enumerate(tasks):
        place = f"{path}: task {number}"
        name = task.get("task") if isinstance(task, dict) else None
        if not isinstance(name, str) or name not in _PATHS:
            raise DataError(f"{place}: {str(name)[:50]!r} is no task; known: {', '.join(_PATHS)}")
        shape, function = functions[_PATHS[name]]
        request = {_KEYS.get(key, key): value for key, value in task.items() if key != "task"}
        lacking = [key for key in ("item", "item1", "item2", "question") if key in shape.__struct_fields__]
        lacking = [key for key in lacking if request.get(key) is None]
        if lacking:
            LOGGER.warning("%s: %s without %s is passed over", place, name, lacking[0])
            continue
        try:
            yield function, msgspec.convert(request, shape), place
        except msgspec.ValidationError as error:
            raise DataError(f"{place}: {one_line(error)}") from None
