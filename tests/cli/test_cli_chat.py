"""`convinse chat`: through prompt_toolkit's own input, as a program that is fed lines, and in a terminal."""

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import time

import pytest

from case_tables import cases
from convinse.cli import main
from convinse.cli.chat import Chat
from patience import PATIENCE
from places import ROOT
from test_pipeline import CONFIG, FixedAnswer, make
from written import write

QUESTIONS = ["Who directed the film Titanic?", "When was he born?"]
PROMPTS = "\x1b[?2004h"  # pasted text is marked from here on: a line is read
ENTER, TAB, CTRL_C, CTRL_D = "\r", "\t", "\x03", "\x04"


@pytest.fixture
def say(workdir, capsys, lexical):
    """A chat, by a function that gives it a line and returns what it prints."""
    chat = Chat(lexical, ("kb", "text"))

    def take(*lines):
        capsys.readouterr()
        run(chat, *lines)
        return capsys.readouterr().out

    return take


def run(chat, *lines):
    waiting = iter(lines)

    def read():
        for line in waiting:
            return line
        raise EOFError

    chat.run(read)


def test_why_shows_what_each_stage_made(say):
    printed = say(*QUESTIONS, "/why")
    explained = printed[printed.index("understood as:") :]
    about = ("about: James Cameron (Q42574)", "from the history: ", "found: ", " kb, ")
    for words in (*about, "answers:\n  1. 16 August", "rests on ["):
        assert words in explained, explained
    assert re.search(r"^ +-?\d+\.\d\d \[(kb|text)\] ", explained, re.MULTILINE)


def test_the_conversation_goes_back_and_begins_anew(say):
    say(*QUESTIONS)
    assert say("/back") == "taken back: When was he born?\n"
    assert "16 August 1954" in say(QUESTIONS[1])
    assert say("/new", "/back") == "a new conversation\nthere is no turn to take back\n"


def test_other_sources(say):
    assert say("/sources", "/sources info_kb", "/sources") == (
        "answers are from kb_text\nanswers are from kb_info\nanswers are from kb_info\n"
    )
    assert re.search(r"^  \[1\] \[(kb|info)\]", say(QUESTIONS[0]), re.MULTILINE)
    assert "unknown source 'wiki'" in say("/sources wiki")
    assert say("/new", "/sources") == "a new conversation\nanswers are from kb_info\n"


def test_a_saved_conversation_goes_on(say, workdir, lexical, monkeypatch, capsys):
    assert "talk.json: 1 turn;" in say(QUESTIONS[0], "/save talk.json")
    say(QUESTIONS[1], "/save")
    saved = json.loads((workdir / "talk.json").read_text())
    assert saved == lexical.ask(QUESTIONS, ["kb", "text"])
    write("talk.json", {**saved, "questions": saved["questions"][:1]})
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{QUESTIONS[1]}\n/save\n"))
    assert main(["chat", "talk.json", "--config", "lexical.yml", "--sources", "kb_text"]) == 0
    assert "16 August 1954" in capsys.readouterr().out
    assert json.loads((workdir / "talk.json").read_text()) == saved


def test_nothing_that_is_there_is_written_over(say, workdir):
    write("mine.txt", "mine")
    assert "is there already" in say(QUESTIONS[0], "/save mine.txt")
    assert (workdir / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        *((case["line"], case["says"]) for case in cases("chat_commands")),
        ("x" * 2001, "2001 characters; 2000 are the most"),
    ],
)
def test_an_error_is_a_line_and_the_chat_goes_on(say, line, words):
    refused, *rest = say(line, "/sources").splitlines()
    assert words in refused and rest == ["answers are from kb_text"]


def test_help_names_every_command(say):
    printed = say("/help").splitlines()
    assert [line.split()[0] for line in printed[:-1]] == list(Chat.COMMANDS)


def test_text_that_a_terminal_would_obey_is_shown(capsys):
    class Odd(FixedAnswer):
        def inference_on_turn(self, turn, sources):
            return [{"answer": {"id": "Q9", "label": "[bold]x\x1b[2J\n:smile:"}, "score": 1.0, "rank": 1}]

    Chat(make(ha=Odd(CONFIG)), ("kb",)).take("who won?")
    assert capsys.readouterr().out.startswith("[bold]x [2J :smile: (Q9)  1.00, likely\n")


def test_ctrl_c_stops_the_answer_only(capsys):
    class Stopped(FixedAnswer):
        def inference_on_turn(self, turn, sources):
            if turn["question"] == "what stops?":
                raise KeyboardInterrupt
            return super().inference_on_turn(turn, sources)

    run(Chat(make(ha=Stopped(CONFIG)), ("kb",)), "a?", "what stops?", "/back", "/back")
    assert capsys.readouterr().out.splitlines()[1:] == [
        "stopped; the conversation is as it was before",
        "taken back: a?",
        "there is no turn to take back",
    ]


class Terminal:
    def __init__(self, folder):
        self.master, slave = pty.openpty()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-m", "convinse", "chat", "--config", "lexical.yml"],
            cwd=folder, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self.printed = ""

    def read_until(self, words):
        deadline = time.monotonic() + PATIENCE
        while words not in self.printed and time.monotonic() < deadline:
            if select.select([self.master], [], [], 0.5)[0]:
                self.printed += os.read(self.master, 4096).decode(errors="replace")
        assert words in self.printed, self.printed
        before, _, self.printed = self.printed.partition(words)
        return before

    def type(self, text):
        os.write(self.master, text.encode())


@pytest.fixture
def terminal(workdir):
    started = Terminal(workdir)
    yield started
    started.process.kill()
    started.process.wait()
    os.close(started.master)


def test_a_conversation_in_a_terminal(terminal):
    terminal.read_until("Ask about 5,536 items, 21,405 facts")
    terminal.read_until(PROMPTS)
    terminal.type(QUESTIONS[0] + ENTER)
    terminal.read_until("(Q42574)")
    terminal.read_until(PROMPTS)
    terminal.type("half a question" + CTRL_C)
    terminal.read_until(PROMPTS)
    terminal.type("/so" + TAB)
    terminal.read_until("/sources")
    terminal.type(" kb" + ENTER)
    terminal.read_until("answers are from kb")
    terminal.read_until(PROMPTS)
    terminal.type(CTRL_D)
    assert terminal.process.wait(timeout=PATIENCE) == 0
