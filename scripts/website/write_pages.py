"""Write into README.md and the pages of docs/ what they show of the program and of measurements.

    python -m website.write_pages [--check]

Each part stands between two comments, so that a page reads the same on a code host and on the site:

    <!-- figures results sources -->      the tables of the part `sources` in docs/figures/results.json; all parts without a name
    <!-- headline results -->            the figures of README.md
    <!-- commands kb wikipedia -->        the help texts of commands, those below a group included
    <!-- keys name output_path -->        keys of the configuration, those below a key included
    <!-- end -->

With --check nothing is written; the status is 1 if a page is not up to date.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from convinse.cli import build_parser
from convinse.config import Config

from . import settings_reference

DOCS = Path(__file__).resolve().parents[2] / "docs"
_PART = re.compile(r"<!-- (figures|headline|commands|keys) ([^>]*?) -->\n(.*?)<!-- end -->", re.DOTALL)
_WIDTH = 100
_HEADLINE = {"P@1": "first answer right", "Hit@5": "right among the first five"}  # column there, here
# row of README.md's table -> part of the figures, first cells of its row there
_ROWS = {
    "130 typed the way people type (`natural`)": ("natural", "config.yml", "predicted"),
    "157 more of that kind, written later (`natural-fresh`)": ("fresh", "config.yml", "predicted"),
    "270 of the test part, all sources": ("histories", "test", "config.yml", "gold"),
    "the same from `kb_text_info`: the main job": ("sources", "kb_text_info"),
    "all sources, the small model alone (`small.yml`)": ("histories", "test", "small.yml", "gold"),
    "all sources, BM25 and no reader (`lexical.yml`)": ("histories", "test", "lexical.yml", "gold"),
}
_BUSY = 0.5  # load of other programs for each core from which figures are not those of the machine


def written(text: str) -> str:
    """Return the text of a page with its parts written anew. Raises `LookupError` for an unknown name."""

    def replaced(match: re.Match[str]) -> str:
        content = _WRITERS[match[1]](match[2].split())
        return f"<!-- {match[1]} {match[2]} -->\n\n{content}\n<!-- end -->"

    return _PART.sub(replaced, text)


def _figures(words: list[str]) -> str:
    """The tables of a bench, with the command, commit and, of a bench, machine of each part."""
    name, *parts = words
    path = DOCS / "figures" / f"{name}.json"
    measured = json.loads(path.read_text(encoding="utf-8"))
    if unknown := set(parts) - measured.keys():
        raise LookupError(f"{path}: has no part {', '.join(sorted(unknown))}")
    chosen = [measured[part] for part in parts or measured]
    tables = [_table(shown) for part in chosen for shown in part["tables"]]
    return "\n".join([*tables, *dict.fromkeys(_origin(name, part) for part in chosen if part["tables"])])


def _headline(words: list[str]) -> str:
    """Return README.md's table: people's questions with predicted answers of earlier turns, then the test part with gold ones."""
    measured = json.loads((DOCS / "figures" / f"{words[0]}.json").read_text(encoding="utf-8"))
    lines = [f"| questions | {' | '.join(_HEADLINE.values())} |", f"|---|{'---:|' * len(_HEADLINE)}"]
    for label, (part, *start) in _ROWS.items():
        table = measured[part]["tables"][0]
        row = next((row for row in table["rows"] if row[: len(start)] == start), None)
        if row is None:
            raise LookupError(f"{words[0]}.json: part {part} has no row {' '.join(start)}")
        lines.append(f"| {label} | {' | '.join(row[table['columns'].index(name)] for name in _HEADLINE)} |")
    return "\n".join([*lines, ""])


def _table(shown: Mapping[str, Any]) -> str:
    columns = shown["columns"]
    marks = ["---" if place < shown["words"] else "---:" for place in range(len(columns))]
    lines = [
        "| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in (columns, marks, *shown["rows"])
    ]
    return f"**{shown['title']}**\n\n" + "\n".join(lines) + "\n"


def _origin(name: str, part: Mapping[str, Any]) -> str:
    if "command" in part:  # of a recipe, whose figures no machine changes
        return f"`{part['command']}`; commit `{part['commit']}`.\n"
    machine = part["machine"]
    cores = int(machine["cores"])
    busy = " The machine was busy with other work." if float(machine["load"]) > _BUSY * cores else ""
    rounds = f", medians of {part['rounds']} rounds" if part["rounds"] > 1 else ""
    command = " ".join(["bash run.sh bench", name, *part["arguments"]])
    processor = machine.get("processor") or machine["architecture"]
    instructions = f" ({machine['instructions']})" if machine.get("instructions") else ""
    where = f"{cores} cores of {processor}{instructions}, Python {machine['python']}"
    return f"`{command}`{rounds}; commit `{part['commit']}`, {machine['date']}, {where}.{busy}\n"


def _commands(words: list[str]) -> str:
    commands = dict(parsers(build_parser()))
    if unknown := set(words) - commands.keys():
        raise LookupError(f"no such command: {', '.join(sorted(unknown))}")
    texts = []
    for name, parser in commands.items():
        if any(name == word or name.startswith(f"{word} ") for word in words):
            parser.prog = f"convinse {name}"
            parser.formatter_class = partial(argparse.HelpFormatter, width=_WIDTH)
            texts.append(f"### {name}\n\n```text\n{parser.format_help()}```\n")
    return "\n".join(texts)


def parsers(parser: argparse.ArgumentParser, prefix: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield the commands below a parser by their words, such as `kb build`."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                yield f"{prefix}{name}", child
                yield from parsers(child, f"{prefix}{name} ")


def _keys(words: list[str]) -> str:
    """An entry for each key of the configuration."""
    keys = list(settings_reference.keys(Config))
    if unknown := set(words) - {key.name for key in keys}:
        raise LookupError(f"no such key: {', '.join(sorted(unknown))}")
    return "\n".join(
        settings_reference.markdown(key) for name in words for key in keys if key.name.split(".")[0] == name
    )


_WRITERS: dict[str, Callable[[list[str]], str]] = {
    "figures": _figures, "headline": _headline, "commands": _commands, "keys": _keys
}  # fmt: skip


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them with --check."""
    old = []
    for page in (DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))):
        text = page.read_text(encoding="utf-8")
        try:
            new = written(text)
        except (LookupError, OSError, ValueError) as error:
            sys.exit(f"{page}: {error}")
        if new != text:
            old.append(page.name)
            if "--check" not in arguments:
                page.write_text(new, encoding="utf-8")
    if old and "--check" in arguments:
        sys.exit(f"docs: not up to date: {', '.join(old)}; run bash run.sh docs --write")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
