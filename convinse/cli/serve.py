"""The command serve: models and the pipeline over HTTP, the pipeline as tools for agents."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from ..support.errors import ConfigError, one_line
from .arguments import (
    LOOPBACK,
    Commands,
    add_address,
    add_config,
    add_dropped,
    add_host,
    add_reader,
    port,
    positive,
    reader_config,
    size,
)
from .documents import add_over, files_over, watched_over

if TYPE_CHECKING:
    from ..serving.service import ServiceOptions

_TOKEN_VARIABLE = "CONVINSE_TOKEN"
_SHORTEST_TOKEN = 16  # characters: fewer can be tried one by one


def add(commands: Commands) -> None:
    """Add `serve reader|api|demo|mcp`."""
    commands = commands.group("serve", "serve a model or the pipeline to other programs")

    sub = commands.add(
        "reader", _reader, "the MRQA prediction server: POST a context with questions to /, until Ctrl-C"
    )
    add_address(sub, 8888)
    add_reader(sub)
    sub.add_argument("--max-body", type=size, default="10MB", metavar="SIZE", help="of a request (default 10MB)")

    about = "the pipeline as a service: web page, conversations and chat completions, until Ctrl-C"
    for name, work, text in (("api", _api, about), ("demo", _demo, "serve api, and the web page opened in a browser")):
        sub = commands.add(name, work, text)
        add_address(sub, 8080)
        _add_service(sub)
        remedy = "start a server on each machine behind a proxy; pipeline --on ray stays"
        add_dropped(sub, "--on", remedy)
        add_dropped(sub, "--workers", remedy)
        sub.add_argument(
            "--upload", action=argparse.BooleanOptionalAction,
            help="take files into conversations, or take none (default: if this machine alone can ask)",
        )  # fmt: skip
        add_dropped(sub, "--feedback", "train ha learns from conversations with gold answers")
        sub.add_argument(
            "--cors", action="append", default=[], type=origin, metavar="ORIGIN",
            help="a site whose pages may ask, such as https://example.org; may be repeated",
        )  # fmt: skip

    sub = commands.add("mcp", _mcp, "the pipeline as tools for agents (MCP), over standard input and output or HTTP")
    sub.add_argument(
        "--http", type=port, metavar="PORT", help="serve over HTTP until Ctrl-C; 0 takes a free port (default: stdio)"
    )
    add_host(sub)
    _add_service(sub)
    sub.set_defaults(usage_error=sub.error)


def _add_service(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("paths", nargs="*", metavar="PATH", help="files and folders to ask about, as by --over")
    add_over(sub)
    add_config(sub)
    sub.add_argument("--sources", metavar="SOURCES", help="of requests that name none (default kb_text_table_info)")
    sub.add_argument(
        "--token", metavar="FILE", help="a file with the token that requests must give (default: $CONVINSE_TOKEN)"
    )
    sub.add_argument("--open", action="store_true", help="with --host: let others ask without a token")
    sub.add_argument(
        "--conversations", type=positive, default=1000, metavar="N", help="that are kept at most (default 1000)"
    )


def origin(text: str) -> str:
    """Return an origin as browsers write it: `https://example.org`, `http://localhost:3000`."""
    import re

    if not re.fullmatch(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", text):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not an origin; give one as https://example.org, in small letters, without a path"
        )
    return text


def _reader(options: argparse.Namespace) -> int:
    config = reader_config(options)
    model = options.model or config.ha_model
    if not model:
        raise ConfigError(
            f"{options.config} names no ha_model; give --model, the folder of a question-answering model or a hub name"
        )
    from ..resources import Resources
    from ..serving.app import run
    from ..serving.reader import SECONDS, create_app

    reader = Resources(config).reader(model, key="--model" if options.model else "ha_model")
    run(
        create_app(reader, (options.host, *options.allow_host), options.max_body),
        options.host,
        options.port,
        lambda address: print(f"{model}: POST MRQA contexts to {address} (Ctrl-C ends it)", flush=True),
        patience=SECONDS,
    )
    return 0


def _demo(options: argparse.Namespace) -> int:
    import threading
    import webbrowser

    def show(address: str) -> None:  # apart: browsers of the terminal return when they are left
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    return _api(options, show)


def _api(options: argparse.Namespace, show: Callable[[str], None] | None = None) -> int:
    from ..pipeline import Pipeline
    from ..serving.api import create_app
    from ..serving.app import run

    service = _service_options(options)
    with watched_over(options) as config, Pipeline(config) as pipeline:

        def ready(address: str) -> None:
            print(f"{config.name}: the web page and the API are at {address} (Ctrl-C ends it)", flush=True)
            if show is not None:
                show(address)

        run(create_app(pipeline, service), options.host, options.port, ready, has_token=service.token is not None)
    return 0


def _mcp(options: argparse.Namespace) -> int:
    from ..pipeline import Pipeline
    from ..support.errors import missing_extra

    if options.http is None and (options.token or options.open or options.allow_host or options.host != LOOPBACK):
        options.usage_error("--host, --allow-host, --token and --open are of HTTP; give --http PORT, too")
    try:
        from ..serving.mcp import PATH, PipelineTools, create_app, serve_stdio
    except ModuleNotFoundError:
        raise missing_extra("serve mcp needs the package mcp", "mcp") from None
    from ..serving.app import run

    service = _service_options(options, over_http=options.http is not None)
    with (
        watched_over(options) as config,
        Pipeline(config) as pipeline,
        closing(PipelineTools(pipeline, service)) as tools,
    ):
        if options.http is None:
            serve_stdio(tools)
            return 0
        run(
            create_app(tools),
            options.host,
            options.http,
            lambda address: print(f"{config.name}: the MCP server is at {address}{PATH} (Ctrl-C ends it)", flush=True),
            has_token=service.token is not None,
        )
    return 0


def _service_options(options: argparse.Namespace, over_http: bool = True) -> ServiceOptions:
    from ..records.evidence import DEFAULT_SOURCES, parse_sources
    from ..serving.service import ServiceOptions
    from ..support.addresses import is_loopback
    from ..support.checksums import users_cache

    token = _read_token(options.token) if over_http else None
    is_own = is_loopback(options.host) and not options.allow_host  # another name is that of a proxy
    if token is None and not options.open and not is_loopback(options.host):
        raise ConfigError(
            f"--host {options.host}: other machines could ask, and no token is set; give --token FILE or set "
            f"{_TOKEN_VARIABLE}, or --open to let anyone ask"
        )
    sources = parse_sources(options.sources or DEFAULT_SOURCES, "--sources")
    uploads = getattr(options, "upload", False)  # mcp has none
    takes_files, cache = is_own if uploads is None else uploads, users_cache()
    return ServiceOptions(
        sources=sources,
        most_conversations=options.conversations,
        token=token,
        origins=tuple(getattr(options, "cors", ())),
        hosts=(options.host, *options.allow_host),
        over=tuple(files_over(options)),
        uploads=takes_files,
        files_folder=cache / "page-files" if takes_files and cache is not None else None,
    )


def _read_token(file: str | None) -> str | None:
    # the token is not an argument: all users of a machine can read the arguments of its processes
    place, token = file or _TOKEN_VARIABLE, os.environ.get(_TOKEN_VARIABLE)
    if file is not None:
        try:
            token = Path(file).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{file}: no token can be read ({one_line(error)}); write one into it") from None
    if token is None:
        return None
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(
            f"{place}: a token has {_SHORTEST_TOKEN} or more printable ASCII characters and no space; "
            "python3 -c 'import secrets; print(secrets.token_urlsafe())' makes one"
        )
    return token
