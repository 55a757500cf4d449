"""MRQA examples in a terminal: contexts with highlighted answers, and questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ..support.errors import DataError
from .mrqa import MrqaExample, MrqaQuestion, read_examples

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_OPEN, _CLOSE = "»", "«"  # around an answer where there are no colours
_STYLE = "bold black on yellow"
# control characters could move the cursor or change the terminal; the offsets of answers stay
_CONTROLS = {code: "\ufffd" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"} | {13: " "}


def examples(
    path: Path, qid: str | None = None, limit: int | None = None
) -> Iterator[tuple[MrqaExample, MrqaQuestion]]:
    """Yield the questions of an MRQA file with their contexts: the one with a qid, or at most `limit`.

    Raises `DataError`.
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


def show(console: Console, pairs: Iterable[tuple[MrqaExample, MrqaQuestion]]) -> None:
    """Print questions with their contexts.

    Colours are used on a terminal that has them, unless `NO_COLOR` forbids it; else answers stand between » and «.
    """
    coloured = console.is_terminal and not console.no_color and console.color_system is not None
    for number, (example, question) in enumerate(pairs):
        if number:
            console.print()
        console.print(_rendered(example, question, coloured), soft_wrap=True)


def _rendered(example: MrqaExample, question: MrqaQuestion, coloured: bool) -> Text:
    spans = {span for answer in question.detected_answers for span in answer.char_spans}
    text = _marked(example.context.translate(_CONTROLS), spans, coloured)
    rows = [("qid", question.qid), ("question", question.question)]
    for answer in question.detected_answers:
        places = ", ".join(f"{start}-{end}" for start, end in answer.char_spans) or "nowhere"
        rows.append(("answer", f"{answer.text}  [{places}]"))
    detected = {answer.text for answer in question.detected_answers}
    if rest := [accepted for accepted in question.answers if accepted not in detected]:
        rows.append(("accepted", " | ".join(rest)))
    text.append("\n\n")
    for name, value in rows:
        text.append(f"{name:9}", style="bold")
        text.append(f"{value.translate(_CONTROLS)}\n")
    return text


def _marked(context: str, spans: Iterable[tuple[int, int]], coloured: bool) -> Text:
    from rich.text import Text

    if coloured:
        text = Text(context)
        for start, end in spans:
            text.stylize(_STYLE, start, end + 1)
        return text
    opened, closed = Counter(start for start, _ in spans), Counter(end for _, end in spans)
    marked = (f"{_OPEN * opened[at]}{letter}{_CLOSE * closed[at]}" for at, letter in enumerate(context))
    return Text("".join(marked))
