"""The command serve: models over HTTP."""

from __future__ import annotations

import argparse

from ..support.errors import ConfigError
from .arguments import Commands, add_address, given, size


def add(commands: Commands) -> None:
    """`serve reader`."""
    commands = commands.group("serve", "serve a model over HTTP")

    sub = commands.add(
        "reader", _reader, "the MRQA prediction server: POST a context with questions to /, until Ctrl-C"
    )
    add_address(sub, 8888)
    sub.add_argument("--model", metavar="FOLDER", help="a question-answering model, or a hub name (default: ha_model)")
    sub.add_argument("--config", default="config.yml", help="the configuration (default config.yml)")
    sub.add_argument("--device", help="auto, cpu, cuda or cuda:1 (default: the configuration's)")
    sub.add_argument("--precision", help="auto, fp32, fp16, bf16 or int8 (default: evs_precision)")
    sub.add_argument("--max-body", type=size, default="10MB", metavar="SIZE", help="of a request (default 10MB)")


def _reader(options: argparse.Namespace) -> int:
    from ..config import load_config

    changes = given(ha_model=options.model, device=options.device, evs_precision=options.precision)
    config = load_config(options.config, **changes)
    if not config.ha_model:
        raise ConfigError(
            f"{options.config} names no ha_model; give --model, the folder of a question-answering model or a hub name"
        )
    from ..resources import load_reader
    from ..serving.reader_server import serve

    serve(
        load_reader(config, config.ha_model),
        options.host,
        options.port,
        lambda address: print(f"{config.ha_model}: POST MRQA contexts to {address} (Ctrl-C ends it)", flush=True),
        most=options.max_body,
    )
    return 0
