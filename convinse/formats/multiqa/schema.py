"""The project's JSON schema of MultiQA files (`schema.json`) and the faults that it finds.

Written from the format's description. It describes documents as they stand in files, in both dialects, so that the path
of a fault is one in the file. Unknown keys are allowed; `validate` names them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from ...support.errors import ConvinseError

_LONGEST_REASON = 160  # characters; a reason quotes the value that is wrong


def load() -> dict[str, Any]:
    """The schema: `definitions.header` for the first document of a file, `definitions.entry` for the others."""
    schema: dict[str, Any] = json.loads(files(__package__).joinpath("schema.json").read_text(encoding="utf-8"))
    return schema


def faults(document: Any, kind: str) -> Iterator[tuple[str, str]]:
    """JSON path and reason of each fault.

    Args:
        document: what stands in the file.
        kind: `header` (an object with the key `header`) or `entry` (a context with its questions).
    """
    for error in _validator(kind).iter_errors(document):
        reason = error.message
        if len(reason) > _LONGEST_REASON:
            half = _LONGEST_REASON // 2
            reason = f"{reason[:half]} ... {reason[-half:]}"
        yield json_path(error.instance_path), reason


def json_path(keys: Sequence[str | int]) -> str:
    """`["qas", 0, "answers", "open-ended"]` -> `$.qas[0].answers.open-ended`."""
    return "$" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)


@lru_cache(maxsize=2)
def _validator(kind: str) -> Any:
    try:
        import jsonschema_rs
    except ImportError:
        raise ConvinseError("checking MultiQA needs jsonschema-rs: run pip install jsonschema-rs") from None
    schema = load()
    return jsonschema_rs.validator_for({**schema, **schema["definitions"][kind]})
