"""The commands, from the parser of the command line: usage, description, arguments."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from functools import partial

from .markdown import directive, escaped

_WIDTH = 100
_EVERYWHERE = ("--help", "--quiet", "--debug")  # told once, for all commands


def parsers(parser: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The commands below a parser by their words, such as `kb build`, in the order in which help lists them; groups first."""
    for words, child in _below(parser).items():
        full = f"{name} {words}".strip()
        yield full, child
        yield from parsers(child, full)


def _below(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    groups = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return next((group.choices for group in groups), {})


def markdown(name: str, parser: argparse.ArgumentParser) -> str:
    """What the reference says of a command: how it is called, what it does, its arguments, those of all commands aside."""
    parser.formatter_class = partial(argparse.HelpFormatter, width=_WIDTH)
    parser.prog = f"convinse {name}"
    shown = [action for action in parser._actions if not set(_EVERYWHERE) & {*action.option_strings}]
    formatter = parser._get_formatter()
    formatter.add_usage(None, shown, parser._mutually_exclusive_groups, prefix="")
    usage = formatter.format_help()
    entries = []
    for action in sorted(shown, key=lambda action: bool(action.option_strings)):
        if isinstance(action, argparse._SubParsersAction) or action.help == argparse.SUPPRESS:
            continue
        text = formatter._expand_help(action) if action.help else ""
        entries.append(directive("option", _called(action), escaped(_sentence(text))))
    about = escaped(_sentence(parser.description or ""))
    return "\n".join([f"{about}\n", f"```text\n{usage}```\n", directive("program", parser.prog), *entries])


def _called(action: argparse.Action) -> str:
    """An argument as it is typed: `--port N, -p N`, `FILE`."""
    if not action.option_strings:
        return action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    value = ""
    if action.nargs != 0:
        shown = action.metavar or (
            "{" + "|".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
        )
        value = " " + (" ".join(shown) if isinstance(shown, tuple) else shown)
    return ", ".join(option + value for option in action.option_strings)


def _sentence(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!')) or not text else '.'}"
