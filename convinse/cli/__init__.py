"""The command line: one function call a command. Results go to standard output, logs to standard error."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence

from ..support.errors import ConvinseError, OutputError, one_line
from . import annotate as annotation
from . import datasets, develop, evaluate, experiments, kb, passages, wikipedia
from . import read as reading
from . import serve as serving
from .arguments import Commands

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0, 1 (a `ConvinseError`, one line), 2 (usage), 130 (Ctrl-C)."""
    parser = _parser()
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options, rest = parser.parse_known_args(arguments)
    if rest and not options.takes_more:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    options.arguments, options.rest = arguments, rest
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s", force=True)
    logging.getLogger("convinse").setLevel(logging.WARNING if options.quiet else logging.INFO)
    try:
        return options.run(options) or 0
    except ConvinseError as error:
        if options.debug:
            raise
        print(f"convinse: {one_line(error)}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains at its end
        return 1
    except OSError as error:
        if options.debug:
            raise
        print(f"convinse: {one_line(OutputError(one_line(error)))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"convinse: interrupted; {options.interrupted}", file=sys.stderr)
        return _INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--quiet", action="store_true", help="no progress and no log lines")
    common.add_argument("--debug", action="store_true", help="show the traceback of an error")
    parser = argparse.ArgumentParser(
        prog="convinse",
        description="Conversational question answering over heterogeneous evidence.",
        epilog="The README shows each task.",
    )
    from .. import __version__

    parser.add_argument("--version", action="version", version=f"convinse {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    adder = Commands(commands, common)
    for group in (experiments, annotation, kb, wikipedia, passages, datasets, evaluate, reading, serving, develop):
        group.add(adder)
    return parser
