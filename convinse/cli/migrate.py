"""The command that takes over configurations of other projects: migrate-config."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .arguments import UNCHANGED, Commands


def add(commands: Commands) -> None:
    """`migrate-config`."""
    sub = commands.add(
        "migrate-config", _migrate, "a configuration of CONVINSE, EXPLAIGNN or FAITH as one of this project", UNCHANGED
    )
    sub.add_argument("file", metavar="FILE", help="theirs; it stays as it is")
    sub.add_argument("--output", metavar="NEW.yml", help="where to write ours (default: standard output)")


def _migrate(options: argparse.Namespace) -> int:
    from ..formats.foreign_settings import as_yaml, migrate
    from ..support.errors import OutputError
    from ..support.files import replacing

    migrated = migrate(Path(options.file))
    text = as_yaml(migrated, options.file)
    if options.output is None:
        sys.stdout.write(text)
        return 0
    output = Path(options.output)
    if output.exists():
        raise OutputError(f"{output}: exists already; name another --output")
    with replacing(output) as temporary:
        temporary.write_text(text, encoding="utf-8")
    print(f"{output}: from a configuration of {migrated.system}")
    for note in migrated.notes:
        print(f"  {note.key}: {note.advice}")
    return 0
