import io
import json
import sys

import pytest

from patience import PATIENCE
from places import ROOT

LEXICAL = ("--config", "lexical.yml")


@pytest.fixture
def typed(monkeypatch):
    def put(content):
        data = content if isinstance(content, bytes) else content.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), "utf-8"))

    return put


def test_questions_on_standard_input_are_one_conversation(workdir, command, typed):
    questions = ["Who directed Titanic?", "When was he born?"]
    typed("Who directed Titanic?\n\n When was he born?")
    lines = command("ask", *LEXICAL)
    assert lines == command("ask", *questions, *LEXICAL)
    assert "> When was he born?" in lines and "16 August 1954" in lines
    typed("\n".join(questions))
    assert json.loads(command("ask", "--json", *LEXICAL)) == json.loads(command("ask", "--json", *questions, *LEXICAL))


def test_more_answers_are_shown(workdir, command):
    assert "\n  7. " in command("ask", "how long is the film Titanic?", "--top", "7")


def test_each_line_is_answered_as_soon_as_it_is_read(start, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", "")
    asking = start(
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from convinse.cli import main\n"
        "sys.exit(main(['ask', '--config', 'lexical.yml']))"
    )
    for question, answer in [("Who directed Titanic?", "James Cameron"), ("When was he born?", "16 August 1954")]:
        asking.stdin.write(f"{question}\n")
        asking.stdin.flush()
        while not (line := asking.stdout.readline()).startswith("  1. "):
            assert line, asking.stderr.read()
        assert answer in line
    _, errors = asking.communicate("", timeout=PATIENCE)
    assert asking.returncode == 0, errors


@pytest.mark.parametrize(
    ("content", "words"), [("x" * 2001, "2001 characters; 2000"), (b"\xff\xfe?\n", "not utf-8 text"), (None, "closed")]
)
def test_lines_that_cannot_be_asked(workdir, command_error, typed, monkeypatch, content, words):
    if content is None:
        monkeypatch.setattr(sys, "stdin", None)
    else:
        typed(content)
    assert words in command_error("ask", *LEXICAL)


def test_no_question_at_all(workdir, command, typed):
    typed("")
    assert command("ask", *LEXICAL) == ""
