"""Commands of a store of data for the nodes of a cluster: push, pull, list."""

from __future__ import annotations

import argparse
from pathlib import Path

from .arguments import Commands
from .tables import print_rows


def add(commands: Commands) -> None:
    """`data push|pull|list`."""
    commands = commands.group(
        "data", "data by their content, in a shared folder or an object store, from which machines fetch what they lack"
    )
    where = "a folder, s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, or what else fsspec takes"

    sub = commands.add("push", _push, "put a knowledge base, a dump, an index or a model into a store")
    sub.add_argument("path", metavar="PATH", help="a folder or a file")
    sub.add_argument("store", metavar="STORE", help=where)

    sub = commands.add("pull", _pull, "fetch one by its id, unless it is there already")
    sub.add_argument("id", metavar="ID", help="the id that push and list print, or the build id")
    sub.add_argument("store", metavar="STORE", help=where)
    sub.add_argument("output", metavar="PATH", help="where it is to lie")

    sub = commands.add("list", _list, "what a store has")
    sub.add_argument("store", metavar="STORE", help=where)


def _push(options: argparse.Namespace) -> int:
    from ..data_store import DataStore

    print(DataStore(options.store).push(Path(options.path), options.quiet).id)
    return 0


def _pull(options: argparse.Namespace) -> int:
    from ..data_store import DataStore

    output = Path(options.output)
    fetched = DataStore(options.store).pull(options.id, output, options.quiet)
    print(output if fetched else f"{output} is there already")
    return 0


def _list(options: argparse.Namespace) -> int:
    from ..data_store import DataStore

    rows = [
        [data.name, data.id, data.build_id, f"{len(data.files):,}", f"{data.size / 10**6:,.1f}"]
        for data in DataStore(options.store).list()
    ]
    print_rows(options.store, ("name", "id", "build id", "files", "MB"), rows)
    return 0
