"""Parts of several commands: types of arguments, sources and configuration, the console of the tables."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from ..support.errors import ConfigError

if TYPE_CHECKING:
    from ..config import Config
    from ..experiment.cluster import RayWorkers

LOOPBACK = "127.0.0.1"
KEPT = "finished conversations are kept, run the command again to go on"
UNCHANGED = "nothing was changed"


class Commands:
    """Adds commands to a parser: each has a function, a help text and a line for Ctrl-C."""

    def __init__(self, subparsers: argparse._SubParsersAction[Any], common: argparse.ArgumentParser) -> None:
        self._subparsers = subparsers
        self._common = common

    def add(
        self,
        name: str,
        function: Callable[[argparse.Namespace], int],
        text: str,
        interrupted: str = UNCHANGED,
        listed: bool = True,
    ) -> argparse.ArgumentParser:
        """Add a command that runs `function`, which returns the exit status; a command that is not listed has no help text."""
        shown: dict[str, Any] = {"help": text} if listed else {}
        parser: argparse.ArgumentParser = self._subparsers.add_parser(
            name, **shown, description=text, parents=[self._common]
        )
        parser.set_defaults(run=function, interrupted=interrupted, takes_more=False, usage_error=parser.error)
        return parser

    def group(self, name: str, text: str) -> Commands:
        """Add a command with subcommands."""
        parser = self._subparsers.add_parser(name, help=text, description=text)
        return Commands(parser.add_subparsers(title="commands", required=True, metavar="COMMAND"), self._common)


class _Dropped(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        parser.error(f"{self.option_strings[0]} is gone; {self.const}")


def add_dropped(parser: argparse.ArgumentParser, option: str, remedy: str) -> None:
    """Refuse an option of an earlier version with one line that says what to do in its place."""
    parser.add_argument(option, action=_Dropped, nargs="?", const=remedy, help=argparse.SUPPRESS)


def add_words(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that `sources_and_config` reads, as `words`."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="SOURCES|CONFIG",
        help="sources such as kb_text_info and a configuration, in either order",
    )
    add_set(parser)


def add_config(parser: argparse.ArgumentParser, default: str = "config.yml") -> None:
    """Add `--config` and `--set`, which `configured` reads."""
    parser.add_argument("--config", default=default, help=f"the configuration (default {default})")
    add_set(parser)


def add_set(parser: argparse.ArgumentParser) -> None:
    """Add `--set`."""
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="settings",
        help="change a key of the configuration, such as clocq_params.d=30; may be repeated",
    )  # fmt: skip


def configured(options: argparse.Namespace, **overrides: Any) -> Config:
    """Return the configuration of `--config` and `--set`."""
    from ..config import load_config

    return load_config(options.config, options.settings, **overrides)


def add_address(parser: argparse.ArgumentParser, default: int) -> None:
    """Add `--port`, `--host` and `--allow-host` of a server."""
    parser.add_argument(
        "--port", type=port, default=default, metavar="N", help=f"default {default}; 0 takes a free one"
    )
    add_host(parser)


def add_host(parser: argparse.ArgumentParser) -> None:
    """Add `--host` and `--allow-host` of a server."""
    parser.add_argument("--host", default=LOOPBACK, help=f"the address to listen on (default {LOOPBACK}: this machine)")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help="a name by which others ask the server, such as that of a proxy; may be repeated",
    )  # fmt: skip


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add `--on` and `--workers`, which `ray_workers` reads."""
    parser.add_argument(
        "--on", type=cluster, metavar="ray[://HOST:PORT]",
        help="work on a Ray cluster: that of RAY_ADDRESS, else this machine's cores; or by the port of its client server",
    )  # fmt: skip
    parser.add_argument("--workers", type=positive, metavar="N", help="with --on: so many at most (default: all cores)")


def ray_workers(options: argparse.Namespace, device: str) -> AbstractContextManager[RayWorkers | None]:
    """Return the workers of `--on`, connected while the block runs; None without the option."""
    if options.on is None:
        if options.workers is not None:
            raise ConfigError("--workers belongs to --on ray; give that, too")
        return nullcontext()
    from ..experiment.cluster import connected

    return connected(options.on, options.workers, device)


def cluster(text: str) -> str:
    """Return the address of a cluster: `ray`, or `ray://HOST:PORT`."""
    if text != "ray" and not text.startswith("ray://"):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a cluster; give ray, or ray://HOST:PORT such as ray://head:10001"
        )
    return text


def add_reader(parser: argparse.ArgumentParser) -> None:
    """Add `--model`, `--config`, `--device` and `--precision` of a reader; see `reader_config`."""
    parser.add_argument("--model", metavar="FOLDER", help="a question-answering model or hub name (default: ha_model)")
    add_config(parser)
    parser.add_argument("--device", help="auto, cpu, cuda or cuda:1 (default: device)")
    parser.add_argument("--precision", help="auto, fp32, fp16, bf16 or int8 (default: precision)")


def reader_config(options: argparse.Namespace) -> Config:
    """Return the configuration with the device and precision of the options."""
    return configured(options, **options_set(device=options.device, precision=options.precision))


def size(text: str) -> int:
    """Return the bytes of `512MB`, `4GB` or `1.5GiB`; as with disks, a GB is 10^9 bytes and a GiB 2^30."""
    import re

    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([kmgt]?)(i?)b?", text.strip().lower())
    if match is None or (match[3] and not match[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is not a size; give one such as 512MB or 4GB")
    return int(float(match[1]) * (1024 if match[3] else 1000) ** " kmgt".index(match[2] or " "))


def languages(text: str) -> tuple[str, ...]:
    """Return the codes of `de,en`, the preferred first; `mul` is always last."""
    codes = [code.strip() for code in text.split(",")]
    if not all(code.replace("-", "").isalnum() and code.isascii() and code == code.lower() for code in codes):
        raise argparse.ArgumentTypeError(f"'{text}' is not a language code; give one such as en, or several as de,en")
    return tuple(dict.fromkeys([*codes, "mul"]))


def port(text: str) -> int:
    """Return a port number, 0 to 65535."""
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port; give a number from 0 to 65535")
    return int(text)


def positive(text: str) -> int:
    """Return a whole number of 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of 1 or more")
    return int(text)


def sources_and_config(words: Sequence[str], settings: Sequence[str] = ()) -> tuple[tuple[str, ...], Config]:
    """Return sources and configuration of `[SOURCES] [CONFIG]`, in either order; `settings` are those of `--set`."""
    from ..config import load_config
    from ..records.evidence import DEFAULT_SOURCES, is_sources, parse_sources

    sources = [word for word in words if is_sources(word)]
    configs = [word for word in words if not is_sources(word)]
    if len(sources) > 1 or len(configs) > 1:
        raise ConfigError(
            f"'{' '.join(words)}': give sources such as kb_text_info and a configuration, each once at most"
        )
    requested = parse_sources(sources[0] if sources else DEFAULT_SOURCES)
    return requested, load_config(configs[0] if configs else "config.yml", settings)


def options_set(**values: Any) -> dict[str, Any]:
    """Return the values that are not None: options that were left out change nothing."""
    return {name: value for name, value in values.items() if value is not None}
