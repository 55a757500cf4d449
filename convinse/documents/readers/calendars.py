"""Reads calendars into blocks."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from ...records.literals import MONTHS
from ..model import Block, Heading, ReadDocument, TableBlock, TextBlock
from .code_pages import decoded

_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\dZ?)?")
_LINE = re.compile(r'([\w-]+)((?:;(?:"[^"]*"|[^":])*)?):(.*)')  # a name, its parameters, and its value
_CALLED = re.compile(r';CN="?([^";]+)', re.IGNORECASE)
_DURATION = re.compile(r"\+?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:\d+S)?)?")
_HOUR = re.compile(r" (?=\d\d:)")
_PARTS = ("VEVENT", "VTODO", "VJOURNAL")
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
    stamps: dict[str, str] = {}
    part = ""  # of the calendar; an event may have alarms with fields of their own
    for line in lines:
        match = _LINE.match(line)
        name, parameters, value = (match[1].upper(), match[2], match[3]) if match else ("", "", "")
        if name == "BEGIN":
            part = value.strip().upper()
            if part in _PARTS:
                fields, stamps = {}, {}
        elif name == "END" and value.strip().upper() in _PARTS:
            if "DTSTART" in stamps and "DURATION" in stamps:
                fields["end"] = _STAMP.sub(_day, _later(stamps["DTSTART"], stamps["DURATION"]))
            if text := fields.pop("", ""):
                described += [Heading(fields.get("event", "event"), 2), TextBlock(text)]
            events.append(fields)
        elif name == "END":
            part = ""
        elif part in (*_PARTS, "") and name in (*_EVENT, "DESCRIPTION", "DURATION"):
            stamps[name] = value
            if name == "DTEND" and "T" not in value:
                value = _later(value, "P0D")
            if name == "ORGANIZER" and (called := _CALLED.search(parameters)):
                value = called[1]
            words = value.replace("\\n", " ").replace("\\,", ",").replace("\\;", ";").removeprefix("mailto:")
            if name != "DURATION":
                fields[_EVENT.get(name, "")] = _STAMP.sub(_day, words)
    _part_days_from_hours(events)
    name_header, *others = _EVENT.values()
    heads = [name for name in (name_header, "date", *others) if any(name in event for event in events)]
    rows = [heads, *([event.get(name, "") for name in heads] for event in events)]
    return ReadDocument("", [TableBlock(rows, heads=1), *described] if heads else described)


def _part_days_from_hours(events: list[dict[str, str]]) -> None:
    """Put the day of each event into a field of its own, if all have hours of one day; their start and end are these hours then."""
    spans = [(_HOUR.split(event.get("start", "")), _HOUR.split(event.get("end", ""))) for event in events]
    if all(len(start) > 1 and (end == [""] or (len(end) > 1 and start[0] == end[0])) for start, end in spans):
        for event, (start, end) in zip(events, spans, strict=True):
            event.update(date=start[0], start=start[1], **({"end": end[1]} if len(end) > 1 else {}))


def _later(start: str, duration: str) -> str:
    """Return the stamp of an end: of whole days the last one, as files name the day behind it."""
    stamp, length = _STAMP.fullmatch(start.strip()), _DURATION.fullmatch(duration.strip())
    if stamp is None or length is None:
        return start
    form = "%Y%m%d" if stamp[4] is None else "%Y%m%dT%H%M%S"
    weeks, days, hours, minutes = (int(number or 0) for number in length.groups())
    whole_days = timedelta(weeks=weeks, days=days - (stamp[4] is None))
    try:
        return (
            datetime.strptime(start.strip().rstrip("Z"), form) + whole_days + timedelta(hours=hours, minutes=minutes)
        ).strftime(form)
    except (ValueError, OverflowError):
        return start


def _day(match: re.Match[str]) -> str:
    year, month, day, hour, minute = match.groups()
    # in words, as questions say it: "what is on 2 May?"
    written = f"{int(day)} {MONTHS[int(month) - 1]} {year}" if 0 < int(month) <= len(MONTHS) else match[0]
    return written + (f" {hour}:{minute}" if hour else "")
