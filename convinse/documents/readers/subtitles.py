"""Reads subtitles into blocks."""

from __future__ import annotations

import re

from ..model import ReadDocument, TextBlock
from .code_pages import decoded

_LONGEST_SPEECH = 2000  # characters of what one speaker says, in a paragraph


def read_subtitles(data: bytes) -> ReadDocument:
    """Return what is said in subtitles, without times: a paragraph of each speaker, and the notes."""
    said: list[TextBlock] = []
    speaker = ""
    lines = [*decoded(data).splitlines(), ""]
    start = 0
    for end in (number for number, line in enumerate(lines) if not line.strip()):
        cue, start, first = lines[start:end], end + 1, start
        timing = next((number for number, line in enumerate(cue) if "-->" in line), None)
        if timing is None:
            if cue and (note := re.fullmatch(r"NOTE\b\s*(.*)", " ".join(cue))):
                said.append(TextBlock(note[1], first + 1, kind="note"))
            continue
        for line in cue[timing + 1 :]:
            for name, words in re.findall(r"(?:<v[^>\s]*\s+([^>]*)>)?((?:(?!<v[.\s]).)+)", line):
                text = " ".join(re.sub(r"<[^<>]*>|\{[^{}]*\}", "", words).split())
                goes_on = (
                    said
                    and said[-1].kind == "text"
                    and (not name or name == speaker)
                    and len(said[-1].text) < _LONGEST_SPEECH
                )
                speaker = name or speaker
                if goes_on:
                    said[-1] = said[-1]._replace(text=f"{said[-1].text} {text}".strip())
                elif text:
                    said.append(TextBlock(f"{name}: {text}" if name else text, first + timing + 2))
    return ReadDocument("", [block for block in said if block.text])
