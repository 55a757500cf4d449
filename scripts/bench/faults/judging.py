"""What a client got of a server, and what is wrong with it."""

from __future__ import annotations

import json
from typing import Any


def judged(answer: bytes) -> str:
    """What is wrong with what a client got: nothing, or answers in JSON, those of an error with its text."""
    while answer:
        head, _, rest = answer.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        status = lines[0].split()[1:2]
        if not lines[0].startswith("http/1.1 ") or not status or not status[0].isdigit():
            return f"no answer of HTTP: {answer[:60]!r}"
        if headers.get("transfer-encoding") == "chunked":
            body, end, answer = rest.partition(b"\r\n0\r\n\r\n")
            if not end:
                return f"half of a stream: {rest[-60:]!r}"
            if reason := _judged_stream(body):
                return reason
            continue
        size = int(headers.get("content-length", "0"))
        body, answer = rest[:size], rest[size:]
        if status[0].startswith("1"):
            continue
        if len(body) < size:
            if not body and not answer:  # of HEAD
                continue
            return f"half of an answer: {len(body)} of {size} bytes"
        is_error = status[0][0] in "45"
        if status[0] == "204" or (not is_error and not headers.get("content-type", "").startswith("application/json")):
            continue  # figures, a page
        try:
            value = json.loads(body)
        except ValueError:
            return f"status {status[0]} without JSON: {body[:60]!r}"
        if is_error and not _tells_error(value):
            return f"status {status[0]} without an error: {body[:60]!r}"
        if status[0] == "500" or b"Traceback" in body:
            return f"status {status[0]}: {body[:120]!r}"
    return ""


def _tells_error(value: Any) -> bool:
    """Whether a value tells of an error, as a text or in OpenAI's shape."""
    error = value.get("error") if isinstance(value, dict) else None
    return isinstance(error.get("message") if isinstance(error, dict) else error, str)


def _judged_stream(body: bytes) -> str:
    """What is wrong with the events of a turn, in chunks."""
    if b"Traceback" in body or b'"status":500' in body or b"server_error" in body:
        return f"a stream that failed: {body[-120:]!r}"
    return "" if b"data: " in body else f"a stream without events: {body[:60]!r}"
