"""Runs the benches whose tables the site shows, with the parts and the arguments that its pages name: `bash run.sh docs --measure`.

A page names them: `{figures} NAME [PART ...]`, and in an option `:arguments:` what else the bench is called with. What is named on
several pages with the same arguments is measured in one run.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
_SHOWN = re.compile(r"^```\{figures\} (\S+)((?: \S+)*)\n(?::arguments: (.*)\n)?```$", re.MULTILINE)


class Shown(NamedTuple):
    """Tables that a page shows; without parts, those of all parts that the bench measures by itself."""

    bench: str
    parts: tuple[str, ...] = ()
    arguments: str = ""


def shown(pages: Path) -> list[Shown]:
    """What the pages of a folder show, page by page."""
    texts = (page.read_text(encoding="utf-8") for page in sorted(pages.rglob("*.md")))
    return [Shown(name, tuple(parts.split()), with_) for text in texts for name, parts, with_ in _SHOWN.findall(text)]


def runs(tables: Iterable[Shown], wanted: Sequence[str]) -> list[Shown]:
    """The runs that measure what is wanted: names of benches, or NAME/PART; all without any.

    Raises:
        LookupError: no page shows it.
    """
    tables = list(tables)
    known = [table.bench for table in tables] + [f"{table.bench}/{part}" for table in tables for part in table.parts]
    if unknown := [name for name in wanted if name not in known]:
        raise LookupError(f"no page shows a table of '{unknown[0]}'; valid: {', '.join(dict.fromkeys(known))}")
    parts: dict[tuple[str, str], list[str]] = {}
    for table in tables:
        own = [part for part in table.parts if f"{table.bench}/{part}" in wanted]
        if not wanted or table.bench in wanted or own:
            parts.setdefault((table.bench, table.arguments), []).extend(own or table.parts)
    return [Shown(name, tuple(dict.fromkeys(own)), arguments) for (name, arguments), own in parts.items()]


def main(names: Sequence[str]) -> int:
    """Measure; the status is 1 where a bench failed, and the others have been measured."""
    try:
        chosen = runs(shown(ROOT / "docs"), [name for words in names for name in words.split(",") if name])
    except LookupError as error:
        sys.exit(f"docs --measure: {error}")
    failed = []
    for place, (bench, parts, arguments) in enumerate(chosen, 1):
        words = [*(["--parts", ",".join(parts)] if parts else []), *arguments.split()]
        print(
            f"{place} of {len(chosen)}, {time.strftime('%H:%M')}: bench {' '.join([bench, *words])}",
            file=sys.stderr,
            flush=True,
        )
        output = f"docs/figures/{bench}.json"
        if subprocess.call([sys.executable, "-m", f"bench.{bench}", *words, "--output", output], cwd=ROOT):
            failed.append(bench)
    if failed:
        print(f"docs --measure: failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
