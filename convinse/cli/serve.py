"""The command serve: models and the pipeline over HTTP, the pipeline as tools for agents."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from ..support.errors import ConfigError
from .arguments import LOOPBACK, Commands, add_address, add_host, add_reader, port, positive, reader_config, size


def add(commands: Commands) -> None:
    """`serve reader`, `serve api`, `serve demo`, `serve mcp`."""
    commands = commands.group("serve", "serve a model or the pipeline to other programs")

    sub = commands.add(
        "reader", _reader, "the MRQA prediction server: POST a context with questions to /, until Ctrl-C"
    )
    add_address(sub, 8888)
    add_reader(sub)
    sub.add_argument("--max-body", type=size, default="10MB", metavar="SIZE", help="of a request (default 10MB)")

    told = "the pipeline as a service: web page, conversations and chat completions, until Ctrl-C"
    for name, work, text in (("api", _api, told), ("demo", _demo, "serve api, and the web page opened in a browser")):
        sub = commands.add(name, work, text)
        add_address(sub, 8080)
        _add_service(sub)
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
    sub.add_argument("--config", default="config.yml", help="the configuration (default config.yml)")
    sub.add_argument("--sources", metavar="SOURCES", help="where a request names none (default kb_text_table_info)")
    sub.add_argument(
        "--token", metavar="FILE", help="a file with the token that requests must give (default: $CONVINSE_TOKEN)"
    )
    sub.add_argument("--open", action="store_true", help="with --host: let others ask without a token")
    sub.add_argument(
        "--conversations", type=positive, default=1000, metavar="N", help="that are kept at most (default 1000)"
    )


def origin(text: str) -> str:
    """An origin as browsers write it: `https://example.org`, `http://localhost:3000`."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
        written = f"{parts.scheme}://{parts.netloc}"
        is_origin = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:  # of the port, or of brackets
        is_origin, written = False, ""
    if not is_origin or "@" in text or text != written.lower():
        raise argparse.ArgumentTypeError(
            f"'{text}' is no origin; give one as https://example.org, in small letters, without a path"
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
    from ..serving.reader_server import serve

    serve(
        Resources(config).reader(model, key="--model" if options.model else "ha_model"),
        options.host,
        options.port,
        lambda address: print(f"{model}: POST MRQA contexts to {address} (Ctrl-C ends it)", flush=True),
        most=options.max_body,
        names=options.allow_host,
    )
    return 0


def _demo(options: argparse.Namespace) -> int:
    import threading
    import webbrowser

    def show(address: str) -> None:  # apart: browsers of the terminal return when they are left
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    return _api(options, show)


def _api(options: argparse.Namespace, show: Callable[[str], None] | None = None) -> int:
    from ..config import load_config
    from ..pipeline import Pipeline
    from ..serving.api_server import ServiceOptions, serve

    given = ServiceOptions(_sources(options), options.conversations, _token(options), tuple(options.cors))
    config = load_config(options.config)

    def ready(address: str) -> None:
        print(f"{config.name}: the web page and the API are at {address} (Ctrl-C ends it)", flush=True)
        if show is not None:
            show(address)

    with Pipeline(config) as pipeline:
        serve(pipeline, given, options.host, options.port, ready, names=options.allow_host)
    return 0


def _mcp(options: argparse.Namespace) -> int:
    from ..config import load_config
    from ..pipeline import Pipeline
    from ..serving.api_server import ServiceOptions
    from ..serving.mcp_transports import serve_http, serve_stdio

    if options.http is None and (options.token or options.open or options.allow_host or options.host != LOOPBACK):
        options.usage_error("--host, --allow-host, --token and --open are of HTTP; give --http PORT, too")
    token = None if options.http is None else _token(options)
    given = ServiceOptions(_sources(options), options.conversations, token)
    config = load_config(options.config)
    with Pipeline(config) as pipeline:
        if options.http is None:
            serve_stdio(pipeline, given)
            return 0
        serve_http(
            pipeline,
            given,
            options.host,
            options.http,
            lambda address: print(f"{config.name}: the MCP server is at {address} (Ctrl-C ends it)", flush=True),
            names=tuple(options.allow_host),
            lists=not options.open,
        )
    return 0


def _sources(options: argparse.Namespace) -> tuple[str, ...]:
    from ..records.evidence import DEFAULT_SOURCES, parse_sources

    return parse_sources(options.sources or DEFAULT_SOURCES, "--sources")


def _token(options: argparse.Namespace) -> str | None:
    """The token that requests must give. Raises `ConfigError` where others could ask without one."""
    from ..serving.service_access import read_token
    from ..support.addresses import is_loopback

    token = read_token(options.token)
    if token is None and not options.open and not is_loopback(options.host):
        raise ConfigError(
            f"--host {options.host}: other machines could ask, and no token is set; give --token FILE or set "
            "CONVINSE_TOKEN, or --open to let anyone ask"
        )
    return token
