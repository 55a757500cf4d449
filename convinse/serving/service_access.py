"""Who may ask the service: whoever knows its token, pages of the sites that are named."""

from __future__ import annotations

import hmac
import os
from pathlib import Path
from typing import Any

from ..support.errors import ConfigError, one_line
from ..support.http_access import AsgiApp
from ..support.http_server import answer
from .chat_completions import error_shape
from .web_page import PAGE_PATH

TOKEN_VARIABLE = "CONVINSE_TOKEN"
_SHORTEST_TOKEN = 16  # characters: of less, somebody may try all
_CHALLENGE = {"WWW-Authenticate": "Bearer", "Connection": "close"}
_OPENAI_PATHS = ("/v1/chat/", "/v1/models")
_OPEN_PATHS = frozenset({"/", "/healthz"})  # what watches the server need not know the token; the page asks for it


def read_token(file: str | None) -> str | None:
    """The token of a file, or else of the environment variable; None where there is neither.

    It stands in no command line: all users of a machine see those of its processes.

    Raises:
        ConfigError: the file cannot be read, or what is there is no token.
    """
    where, token = file or TOKEN_VARIABLE, os.environ.get(TOKEN_VARIABLE)
    if file is not None:
        try:
            token = Path(file).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{file}: no token can be read ({one_line(error)}); write one into it") from None
    if token is None:
        return None
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(
            f"{where}: a token has {_SHORTEST_TOKEN} or more printable ASCII characters and no space; "
            "python3 -c 'import secrets; print(secrets.token_urlsafe())' makes one"
        )
    return token


def with_token(app: AsgiApp, token: str) -> AsgiApp:
    """An application that answers requests with `Authorization: Bearer TOKEN`, and others with 401."""
    expected = f"bearer {token}".encode()

    async def checked(scope: Any, receive: Any, send: Any) -> None:
        given = dict(scope["headers"]).get(b"authorization", b"")
        kind, _, word = given.partition(b" ")
        is_open = scope["path"] in _OPEN_PATHS or scope["path"].startswith(PAGE_PATH)
        if is_open or hmac.compare_digest(kind.lower() + b" " + word.strip(), expected):
            await app(scope, receive, send)
            return
        text = "give the server's token, as 'Authorization: Bearer TOKEN'"
        value = error_shape(text, 401) if scope["path"].startswith(_OPENAI_PATHS) else {"error": text}
        await answer(value, 401, _CHALLENGE)(scope, receive, send)

    return checked
