"""The command line: one function call a command. Results go to standard output, logs to standard error."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import gc
import logging
import os
import re
import select
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from ..support.errors import ConvinseError, missing_extra, nearest, one_line
from . import ask as asking
from . import chat as chatting
from . import (
    datasets,
    develop,
    documents,
    evaluate,
    experiments,
    kb,
    models,
    passages,
    report,
    train,
    verify,
    wikipedia,
)
from . import serve as serving
from .arguments import UNCHANGED, Commands
from .output import PrintableFormatter, printable, printable_output

_INTERRUPTED = 130  # status of a process that Ctrl-C ended, as shells have it: 128 + SIGINT
# commands of earlier versions, and what to use in their place
_DROPPED = {"trec": "`evaluate answers` has the answer presence, docs/neighbours.md PyTerrier's judgements"}
_ALLOCATIONS = 100_000  # between collections of garbage: plain records without cycles are most of what a run makes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status: 0, 1 (a `ConvinseError`, one line), 2 (usage), 130 (Ctrl-C)."""
    try:
        from ..support import files  # noqa: F401 - where the system has none, the error says where the project runs
    except ImportError as error:
        _tell(one_line(error))
        return 1
    before = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *before[1:])
    with contextlib.redirect_stdout(printable_output(sys.stdout)):
        try:
            return _run(sys.argv[1:] if arguments is None else list(arguments))
        finally:
            if arguments is None:
                gc.freeze()  # the process ends: what it made is looked through no more
            gc.set_threshold(*before)
            for stream in filter(None, (sys.stdout, sys.stderr)):
                try:
                    stream.flush()
                except OSError:  # led into nothing, or the interpreter fails at its end on what is left in the stream
                    nothing = os.open(os.devnull, os.O_WRONLY)
                    os.dup2(nothing, stream.fileno())
                    os.close(nothing)


def _run(arguments: list[str]) -> int:
    if any("\ud800" <= letter <= "\udfff" for letter in "".join(arguments)):
        _tell("an argument is not UTF-8 text; write it, or name the file, in UTF-8")
        return 1
    parser = build_parser()
    options, rest = parser.parse_known_args(arguments)
    if rest and not options.takes_more:
        options.usage_error(f"unrecognized arguments: {' '.join(rest)}")
    options.arguments, options.rest = arguments, rest
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PrintableFormatter("%(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("convinse").setLevel(logging.WARNING if options.quiet else logging.INFO)
    try:
        status: int = options.run(options) or 0
        sys.stdout.flush()  # what cannot be written is an error here; at the interpreter's end it is a traceback
        return status
    except ConvinseError as error:
        if options.debug:
            raise
        _tell(one_line(error))
        return 1
    except ModuleNotFoundError as error:
        if options.debug or error.name is None or error.name.partition(".")[0] in ("convinse", "bench"):
            raise
        _tell(f"the package {error.name} is missing; run pip install {error.name}, or bash run.sh, which brings it")
        return 1
    except OSError as error:
        if isinstance(error, BrokenPipeError) and sys.stdout is not None:
            poll = select.poll()
            poll.register(sys.stdout, 0)  # errors and hang-ups are reported unasked
            if poll.poll(0):
                return 1  # as in `convinse ask ... | head`: nothing went wrong that the user does not know
        if options.debug:
            raise
        _tell(_user_module(error) + one_line(error))
        return 1
    except KeyboardInterrupt:
        _tell(f"interrupted; {options.interrupted}")
        return _INTERRUPTED


def _user_module(error: OSError) -> str:
    """Return the module, class and file of the user's code that raised an error; empty if the project did."""
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = frame.f_globals.get("__name__", "")
        package = module.partition(".")[0]
        if package == "convinse":
            place = ""
        elif not place and package not in sys.stdlib_module_names:
            kind = type(frame.f_locals["self"]).__name__ if "self" in frame.f_locals else frame.f_code.co_name
            place = f"{module}:{kind} ({frame.f_code.co_filename}, line {line}): "
    return place


def _tell(message: str) -> None:
    with contextlib.suppress(BrokenPipeError):  # its reader is gone
        print(f"convinse: {printable(message)}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        if match := re.match(r"argument COMMAND: invalid choice: '(.*?)' \(choose from (.*)\)", message):
            remedy = _DROPPED.get(match[1]) or nearest(match[1], re.findall(r"[a-z-]+", match[2]))
            message = f"unknown command '{match[1]}'; {remedy}"
        elif match := re.match(r"unrecognized arguments: (--[\w-]+)", message):
            options = [option for option in self._option_string_actions if option.startswith("--")]
            if close := difflib.get_close_matches(match[1], options, n=1):
                message = f"unknown option {match[1]}; did you mean '{close[0]}'?"
        super().error(message)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--quiet", action="store_true", help="no progress and no log lines")
    common.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser = _Parser(
        prog="convinse",
        description="Conversational question answering over heterogeneous evidence.",
        epilog="docs/index.md leads to a page for each task.",
    )
    from ..support.version import __version__

    parser.add_argument("--version", action="version", version=f"convinse {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    adder = Commands(commands, common)
    for group in (
        asking,
        chatting,
        documents,
        experiments,
        train,
        kb,
        wikipedia,
        passages,
        datasets,
        evaluate,
        report,
        models,
        verify,
        serving,
        develop,
    ):
        group.add(adder)
    sub = adder.add("completion", _completion, "print what completes commands and options in a shell", UNCHANGED)
    sub.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="as in: source <(convinse completion bash)")
    return parser


def _completion(options: argparse.Namespace) -> int:
    try:
        import shtab
    except ModuleNotFoundError:
        raise missing_extra("completion needs shtab", "completion") from None
    print(shtab.complete(build_parser(), options.shell))
    return 0
