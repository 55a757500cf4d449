"""Reads calendars into blocks."""

from __future__ import annotations

import re

from .code_pages import decoded
from .model import Block, Heading, ReadDocument, TableBlock, TextBlock

_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\dZ?)?")
_EVENT = {
    "SUMMARY": "event",
    "DTSTART": "start",
    "DTEND": "end",
    "DUE": "due",
    "LOCATION": "location",
    "ORGANIZER": "organizer",
}


def read_calendar(data: bytes) -> ReadDocument:
    """Return the events of a calendar as a table, and their descriptions below their names."""
    lines = re.sub(r"\r?\n[ \t]", "", decoded(data)).splitlines()  # long lines go on behind a blank
    events: list[dict[str, str]] = []
    described: list[Block] = []
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        name = name.partition(";")[0].upper()
        if name == "BEGIN":
            fields = {}
        elif name == "END" and value.strip().upper() in ("VEVENT", "VTODO", "VJOURNAL"):
            if text := fields.pop("", ""):
                described += [Heading(fields.get("event", "event"), 2), TextBlock(text)]
            events.append(fields)
        elif name in _EVENT or name == "DESCRIPTION":
            words = value.replace("\\n", " ").replace("\\,", ",").replace("\\;", ";").removeprefix("mailto:")
            fields[_EVENT.get(name, "")] = _STAMP.sub(_day, words)
    heads = [name for name in _EVENT.values() if any(name in event for event in events)]
    rows = [heads, *([event.get(name, "") for name in heads] for event in events)]
    return ReadDocument("", [TableBlock(rows, heads=1), *described] if heads else described)


def _day(match: re.Match[str]) -> str:
    year, month, day, hour, minute = match.groups()
    return f"{year}-{month}-{day}" + (f" {hour}:{minute}" if hour else "")
