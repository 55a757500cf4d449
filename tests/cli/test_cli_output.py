"""Output whatever the texts and the streams are: no control characters, no tracebacks."""

import os
import subprocess
import sys

import pytest

from handmade import world, write
from places import ROOT

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m"


def run(*arguments, stdout=subprocess.PIPE, close=False, **environment):
    """A command in a process of its own; gives its status, what it printed, and the lines of its errors."""
    command = [sys.executable, "-m", "convinse", *arguments]
    if close:
        command = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    done = subprocess.run(
        command, stdout=stdout, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT), **environment}
    )
    return done.returncode, done.stdout, done.stderr.decode().splitlines()


def test_texts_are_shown_without_control_characters(workdir, command):
    documents = world()
    for document in documents:
        for term in (document["labels"] if document["type"] == "property" else document["descriptions"] or {}).values():
            term["value"] += ESCAPE
    command("kb", "build", write(workdir / "dump.json", documents), "--output", "kb", "--quiet")
    printed = command("kb", "search", "kb", "Titanic")
    assert printed.count("\ufffd]0;owned\ufffd") > 3
    assert not [letter for letter in printed if not letter.isprintable() and letter != "\n"]


def test_messages_are_shown_without_control_characters(command_error):
    assert "\ufffd[2J" in command_error("kb", "info", f"nowhere{ESCAPE}")


@pytest.mark.parametrize(
    "arguments", [["--version"], ["kb", "info", "nowhere"], ["ask", "Who directed Titanic?", "--config", "lexical.yml"]]
)
def test_a_closed_standard_output_is_no_traceback(workdir, arguments):
    status, _, errors = run(*arguments, close=True)
    assert status in (0, 1) and not [line for line in errors if "Traceback" in line] and len(errors) <= 1


def test_a_result_that_nobody_can_read_is_an_error(workdir):
    status, _, errors = run("ask", "Who directed Titanic?", "--config", "lexical.yml", "--quiet", close=True)
    assert status == 1 and errors == ["convinse: Bad file descriptor"]


@pytest.mark.parametrize("json", [False, True])
def test_an_ascii_standard_output_gets_escapes(workdir, json):
    question = "Who directed Amélie 😀?"
    options = ["--json"] * json
    status, printed, errors = run(
        "ask", question, "--config", "lexical.yml", "--quiet", *options, PYTHONIOENCODING="ascii"
    )
    assert (status, errors) == (0, []) and rb"Am\u00e9lie \ud83d\ude00?" in printed


def test_an_argument_that_is_no_text_is_one_line(command_error):
    assert command_error("ask", "Who\udcff?") == "an argument is not UTF-8 text; write it, or name the file, in UTF-8"


def test_an_address_that_is_none_is_one_line(workdir, command_error):
    (workdir / "a.yml").write_text("ers_on_the_fly: true\ners_wikipedia_api: 'http://[::1'\n")
    message = command_error("ask", "Who directed Titanic?", "--config", "a.yml", "--quiet")
    assert message.startswith("ers_wikipedia_api: http://[::1: not an address; give one such as")
