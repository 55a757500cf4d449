"""MRQA examples in a terminal: contexts with highlighted answers, and questions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..support.errors import DataError
from .mrqa import MrqaExample, MrqaQuestion, read_examples

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_OPEN, _CLOSE = "»", "«"  # around an answer where there are no colours
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_STYLE, _OVERLAP = "bold black on yellow", "bold black on bright_magenta"


def examples(
    path: Path, qid: str | None = None, limit: int | None = None
) -> Iterator[tuple[MrqaExample, MrqaQuestion]]:
    """Yield the questions to show, each with its context.

    Args:
        path: an MRQA file.
        qid: only this question.
        limit: at most so many questions.

    Raises:
        DataError: the file cannot be read, or lacks the question.
    """
    pairs = ((example, question) for example in read_examples(path) for question in example.qas)
    if qid is None:
        yield from islice(pairs, limit)
        return
    for example, question in pairs:
        if question.qid == qid:
            yield example, question
            return
    raise DataError(f"{path}: no question with the qid '{qid}'")


def show(console: Console, pairs: Iterable[tuple[MrqaExample, MrqaQuestion]]) -> int:
    """Print questions with their contexts; returns the number of questions.

    Colours are used on a terminal that has them, unless `NO_COLOR` forbids it; else answers stand between » and «.
    """
    coloured = console.is_terminal and not console.no_color and console.color_system is not None
    shown = 0
    for example, question in pairs:
        if shown:
            console.print()
        console.print(render(example, question, coloured), soft_wrap=True)
        shown += 1
    return shown


def render(example: MrqaExample, question: MrqaQuestion, coloured: bool) -> Text:
    """Return a question as text: its context with the answers marked, the question, the answers and their places."""
    from rich.text import Text

    text = Text()
    spans = {span for answer in question.detected_answers for span in answer.char_spans}
    for piece, depth, opened, closed in pieces(example.context, spans):
        if coloured:
            text.append(_visible(piece), style="" if not depth else _STYLE if depth == 1 else _OVERLAP)
        else:
            text.append(f"{_OPEN * opened}{_visible(piece)}{_CLOSE * closed}")
    text.append("\n\n")
    _line(text, "qid", question.qid)
    _line(text, "question", question.question)
    for answer in question.detected_answers:
        places = ", ".join(f"{start}-{end}" for start, end in answer.char_spans) or "nowhere"
        _line(text, "answer", f"{answer.text}  [{places}]")
    detected = {answer.text for answer in question.detected_answers}
    rest = [accepted for accepted in question.answers if accepted not in detected]
    if rest:
        _line(text, "accepted", " | ".join(rest))
    return text


def _line(text: Text, name: str, value: str) -> None:
    text.append(f"{name:9}", style="bold")
    text.append(f"{_visible(value)}\n")


def _visible(text: str) -> str:
    # control characters could move the cursor or change the terminal
    return _CONTROLS.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


class Piece(NamedTuple):
    """A piece of a text between borders of spans, with the numbers of spans that cover it, begin and end with it."""

    text: str
    depth: int
    opened: int
    closed: int


def pieces(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Piece]:
    """Cut a text at the beginnings and ends of spans (inclusive); no piece is empty."""
    spans = list(spans)
    opened, closed = Counter(start for start, _ in spans), Counter(end + 1 for _, end in spans)
    borders = sorted({0, len(text), *opened, *closed})
    depth = 0
    for begin, end in pairwise(borders):
        depth += opened[begin] - closed[begin]
        yield Piece(text[begin:end], depth, opened[begin], closed[end])
