"""The command serve: models over HTTP."""

from __future__ import annotations

import argparse

from ..support.errors import ConfigError
from .arguments import Commands, add_address, add_reader, reader_config, size


def add(commands: Commands) -> None:
    """`serve reader`."""
    commands = commands.group("serve", "serve a model over HTTP")

    sub = commands.add(
        "reader", _reader, "the MRQA prediction server: POST a context with questions to /, until Ctrl-C"
    )
    add_address(sub, 8888)
    add_reader(sub)
    sub.add_argument("--max-body", type=size, default="10MB", metavar="SIZE", help="of a request (default 10MB)")


def _reader(options: argparse.Namespace) -> int:
    config = reader_config(options)
    model = options.model or config.ha_model
    if not model:
        raise ConfigError(
            f"{options.config} names no ha_model; give --model, the folder of a question-answering model or a hub name"
        )
    from ..resources import Resources
    from ..serving.reader_server import serve

    serve(
        Resources(config).reader(model, key="--model" if options.model else "ha_model"),
        options.host,
        options.port,
        lambda address: print(f"{model}: POST MRQA contexts to {address} (Ctrl-C ends it)", flush=True),
        most=options.max_body,
    )
    return 0
