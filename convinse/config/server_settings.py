"""Models behind servers: structures of keys of the configuration."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from .value_types import BaseUrl, Seconds, Settings


class ServerSettings(Settings, frozen=True, kw_only=True):
    """A server of models that speaks OpenAI's interface.

    base_url: of its interface, such as http://localhost:8000/v1; model: as the server calls it; api_key_env: the
    environment variable that holds the key (null: the server wants none); timeout: for an answer in all, its
    attempts and pauses included; parallel: requests under way at once.
    """

    base_url: BaseUrl | None = None
    model: str | None = None
    api_key_env: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    timeout: Seconds = 120.0
    parallel: Annotated[int, msgspec.Meta(ge=1, le=256)] = 8


class LanguageModelSettings(ServerSettings, frozen=True, kw_only=True):
    """A language model behind a server, and how it is asked.

    max_prompt_tokens: of a prompt at most, as they are estimated; extra: more fields of each request, before
    `temperature: 0` and `max_tokens: 512` (null: the server's own).
    """

    max_prompt_tokens: Annotated[int, msgspec.Meta(ge=256, extra={"unit": "tokens"})] = 4000
    extra: dict[str, Any] = {}


class EvsServer(ServerSettings, frozen=True, kw_only=True):
    """A server that scores evidences in the place of `evs_model`.

    kind: `rerank` (`/rerank` of vLLM, Infinity, Jina, Cohere, TEI, llama.cpp), or `embeddings` (`/embeddings`: the cosine);
    prefixes (0.3): what the model wants before a question, and before a text.
    """

    kind: Literal["rerank", "embeddings"] = "rerank"
    prefixes: tuple[str, str] = ("", "")
