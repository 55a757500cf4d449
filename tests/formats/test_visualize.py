"""Questions in a terminal: answers marked where they stand, with and without colours."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from convinse.formats.mrqa import DetectedAnswer, MrqaExample, MrqaQuestion
from convinse.formats.visualize import examples, pieces, render, show
from convinse.support.errors import DataError
from mrqa_files import write_examples

CONTEXT = "In Köln, old Köln. 👍🏽"
EXAMPLE = MrqaExample(
    CONTEXT,
    [
        MrqaQuestion("q1", "Where?", [], [DetectedAnswer("Köln", [(3, 6), (13, 16)], [])], ["Köln", "Cologne"]),
        MrqaQuestion(
            "q2", "Who?", [], [DetectedAnswer("old Köln", [(9, 16)], []), DetectedAnswer("Köln", [(13, 16)], [])], []
        ),
    ],
)


def shown(pairs, **options):
    console = Console(file=io.StringIO(), width=100, highlight=False, **options)
    count = show(console, pairs)
    return console.file.getvalue(), count


def pairs():
    return [(EXAMPLE, question) for question in EXAMPLE.qas]


def test_plain(monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    text, count = shown(pairs())
    assert count == 2 and "\x1b" not in text
    assert "In »Köln«, old »Köln«. 👍🏽" in text and "In Köln, »old »Köln««. 👍🏽" in text
    assert "qid      q1\nquestion Where?\nanswer   Köln  [3-6, 13-16]\naccepted Cologne\n" in text
    assert text.count("accepted") == 1


def test_colours_on_a_terminal(monkeypatch):
    for name in ("NO_COLOR", "TTY_COMPATIBLE", "TERM"):
        monkeypatch.delenv(name, raising=False)
    text, _ = shown(pairs(), force_terminal=True, color_system="standard")
    assert "»" not in text and text.count("\x1b[1;30;43mKöln") == 2  # yellow; the overlap has another colour
    assert "\x1b[1;30;43mold \x1b" in text and "\x1b[1;30;105mKöln" in text


def test_no_colour(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    text, _ = shown(pairs(), force_terminal=True, color_system="standard")
    assert "»Köln«" in text and "\x1b[4" not in text and "\x1b[1;" not in text


def test_what_would_change_the_terminal_is_not_printed():
    question = MrqaQuestion("\x1b[2J", "a\x07b\rc", [], [DetectedAnswer("x\x9b", [(0, 1)], [])])
    text, _ = shown([(MrqaExample("\x1b[31mred\x00", [question]), question)])
    assert not set("\x1b\x07\r\x9b\x00") & set(text) and "»\ufffd[«31mred\ufffd" in text


def test_markup_is_text():
    question = MrqaQuestion("q", "[red]x[/]", [], [])
    assert "[bold]a[/bold] [PAR]" in shown([(MrqaExample("[bold]a[/bold] [PAR]", [question]), question)])[0]
    assert render(EXAMPLE, question, coloured=True).plain.startswith(CONTEXT)


@given(st.integers(0, 12), st.data())
def test_pieces_rebuild_the_text_and_know_their_spans(size, data):
    text = "abcdefghijkl"[:size]
    place = st.integers(0, max(size - 1, 0))
    spans = data.draw(st.lists(st.tuples(place, place).map(sorted).map(tuple), max_size=4, unique=True)) if size else []
    found = list(pieces(text, spans))
    assert "".join(piece.text for piece in found) == text and all(piece.text for piece in found)
    at = 0
    for piece in found:
        for index in range(at, at + len(piece.text)):
            assert piece.depth == sum(start <= index <= end for start, end in spans)
        assert piece.opened == sum(start == at for start, _ in spans)
        at += len(piece.text)
        assert piece.closed == sum(end + 1 == at for _, end in spans)


def test_selection(workdir):
    path = Path("a.jsonl")
    write_examples(path, [EXAMPLE, MrqaExample("b", [MrqaQuestion("q3", "?")])])
    assert [question.qid for _, question in examples(path)] == ["q1", "q2", "q3"]
    assert [question.qid for _, question in examples(path, limit=2)] == ["q1", "q2"]
    assert [(example.context, question.qid) for example, question in examples(path, "q3", 1)] == [("b", "q3")]
    with pytest.raises(DataError, match="a.jsonl: no question with the qid 'q4'"):
        list(examples(path, "q4"))
