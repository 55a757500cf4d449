"""Questions in a terminal: answers marked where they stand, with and without colours."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from convinse.formats.mrqa import DetectedAnswer, MrqaExample, MrqaQuestion
from convinse.formats.visualize import examples, show
from convinse.support.errors import DataError
from mrqa_files import write_examples

CONTEXT = "In Köln, old Köln. 👍🏽"
OVERLAPPING = [DetectedAnswer("old Köln", [(9, 16)], []), DetectedAnswer("Köln", [(13, 16)], [])]
EXAMPLE = MrqaExample(
    CONTEXT,
    [
        MrqaQuestion("q1", "Where?", [], [DetectedAnswer("Köln", [(3, 6), (13, 16)], [])], ["Köln", "Cologne"]),
        MrqaQuestion("q2", "Who?", [], OVERLAPPING, []),
    ],
)


def shown(pairs, **options):
    console = Console(file=io.StringIO(), width=100, highlight=False, **options)
    show(console, pairs)
    return console.file.getvalue()


FIELDS = "qid      q1\nquestion Where?\nanswer   Köln  [3-6, 13-16]\naccepted Cologne\n"
TERMINAL = {"force_terminal": True, "color_system": "standard"}
YELLOW = "\x1b[1;30;43m"


@pytest.mark.parametrize(
    ("options", "no_colour", "there", "missing"),
    [
        ({}, False, ["In »Köln«, old »Köln«. 👍🏽", "In Köln, »old »Köln««. 👍🏽", FIELDS], ["\x1b"]),
        (TERMINAL, False, [f"{YELLOW}Köln", f"{YELLOW}old "], ["»"]),
        (TERMINAL, True, ["»Köln«"], ["\x1b[4", "\x1b[1;"]),
    ],
)
def test_answers_are_marked_by_signs_or_colours(monkeypatch, options, no_colour, there, missing):
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TERM"):
        monkeypatch.delenv(name, raising=False)
    if no_colour:
        monkeypatch.setenv("NO_COLOR", "1")
    text = shown([(EXAMPLE, question) for question in EXAMPLE.qas], **options)
    assert all(words in text for words in there) and not any(words in text for words in missing)


def test_control_characters_and_markup_are_text():
    question = MrqaQuestion("\x1b[2J", "a\x07b\rc [red]x[/]", [], [DetectedAnswer("x\x9b", [(0, 1)], [])])
    text = shown([(MrqaExample("\x1b[31mred\x00", [question]), question)])
    assert not set("\x1b\x07\r\x9b\x00") & set(text) and "»\ufffd[«31mred\ufffd" in text and "[red]x[/]" in text


def test_examples_are_selected_by_qid_and_limit(workdir):
    path = Path("a.jsonl")
    write_examples(path, [EXAMPLE, MrqaExample("b", [MrqaQuestion("q3", "?")])])
    assert [question.qid for _, question in examples(path)] == ["q1", "q2", "q3"]
    assert [question.qid for _, question in examples(path, limit=2)] == ["q1", "q2"]
    assert [(example.context, question.qid) for example, question in examples(path, "q3", 1)] == [("b", "q3")]
    with pytest.raises(DataError, match="a.jsonl: no question with the qid 'q4'"):
        list(examples(path, "q4"))
