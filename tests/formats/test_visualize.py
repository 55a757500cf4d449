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


FIELDS = "qid      q1\nquestion Where?\nanswer   Köln  [3-6, 13-16]\naccepted Cologne\n"
TERMINAL = {"force_terminal": True, "color_system": "standard"}
KOELN, OLD = "\x1b[1;30;43mKöln", "\x1b[1;30;43mold \x1b"  # yellow; the overlap has another colour


@pytest.mark.parametrize(
    ("options", "no_colour", "there", "missing"),
    [
        ({}, False, ["In »Köln«, old »Köln«. 👍🏽", "In Köln, »old »Köln««. 👍🏽", FIELDS], ["\x1b"]),
        (TERMINAL, False, [KOELN, OLD, "\x1b[1;30;105mKöln"], ["»"]),
        (TERMINAL, True, ["»Köln«"], ["\x1b[4", "\x1b[1;"]),
    ],
)
def test_answers_are_marked_by_signs_or_colours(monkeypatch, options, no_colour, there, missing):
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TERM"):
        monkeypatch.delenv(name, raising=False)
    if no_colour:
        monkeypatch.setenv("NO_COLOR", "1")
    text, count = shown([(EXAMPLE, question) for question in EXAMPLE.qas], **options)
    assert count == 2 and all(words in text for words in there) and not any(words in text for words in missing)
    assert text.count("accepted") == 1 and text.count(KOELN) == 2 * (KOELN in there)


def test_control_characters_are_not_printed():
    question = MrqaQuestion("\x1b[2J", "a\x07b\rc", [], [DetectedAnswer("x\x9b", [(0, 1)], [])])
    text, _ = shown([(MrqaExample("\x1b[31mred\x00", [question]), question)])
    assert not set("\x1b\x07\r\x9b\x00") & set(text) and "»\ufffd[«31mred\ufffd" in text


def test_markup_is_text():
    question = MrqaQuestion("q", "[red]x[/]", [], [])
    assert "[bold]a[/bold] [PAR]" in shown([(MrqaExample("[bold]a[/bold] [PAR]", [question]), question)])[0]
    assert render(EXAMPLE, question, coloured=True).plain.startswith(CONTEXT)


@given(st.integers(0, 12), st.data())
def test_pieces_rebuild_the_text_with_the_depth_of_their_spans(size, data):
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


def test_examples_are_selected_by_qid_and_limit(workdir):
    path = Path("a.jsonl")
    write_examples(path, [EXAMPLE, MrqaExample("b", [MrqaQuestion("q3", "?")])])
    assert [question.qid for _, question in examples(path)] == ["q1", "q2", "q3"]
    assert [question.qid for _, question in examples(path, limit=2)] == ["q1", "q2"]
    assert [(example.context, question.qid) for example, question in examples(path, "q3", 1)] == [("b", "q3")]
    with pytest.raises(DataError, match="a.jsonl: no question with the qid 'q4'"):
        list(examples(path, "q4"))
