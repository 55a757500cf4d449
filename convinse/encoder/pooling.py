"""How token vectors become one embedding, as the files of sentence-transformers say it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from ..support.errors import ModelError, one_line
from ..support.jsonlines import JSON_ERRORS

# of the library's search for a file, which may be missing
NO_ERRORS: dict[str, Any] = {
    "_raise_exceptions_for_missing_entries": False,
    "_raise_exceptions_for_connection_errors": False,
}


def pools_first(folder: Path | None, where: str) -> bool:
    """Return True if [CLS] stands for a text, by the files that sentence-transformers writes."""
    modules = _json(folder, "modules.json", where, list[dict[str, Any]]) or []
    more = {str(module.get("type")).rsplit(".", 1)[-1] for module in modules} - {"Transformer", "Pooling", "Normalize"}
    if more:
        raise ModelError(f"{where}: has a module {min(more)} after its pooling, which is not supported")
    settings = _json(folder, "1_Pooling/config.json", where, dict[str, Any]) or {}
    modes = {name.removeprefix("pooling_mode_") for name, value in settings.items() if value is True}
    modes -= {"include_prompt"}
    if "pooling_mode" in settings:
        modes = {settings["pooling_mode"]}
    modes = {{"cls_token": "cls", "mean_tokens": "mean"}.get(mode, mode) for mode in modes} or {"mean"}
    if modes not in ({"cls"}, {"mean"}):
        raise ModelError(f"{where}: pools by {', '.join(sorted(map(str, modes)))}; mean or cls are supported")
    return modes == {"cls"}


def write_pooling(folder: Path, dimension: int, first: bool) -> None:
    """Write the files that `pools_first` and sentence-transformers read, of embeddings with so many numbers."""
    modules = [
        {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for place, (kind, path) in enumerate((("Transformer", ""), ("Pooling", "1_Pooling")))
    ]
    pooling = {
        "word_embedding_dimension": dimension,
        "pooling_mode_cls_token": first,
        "pooling_mode_mean_tokens": not first,
    }
    (folder / "1_Pooling").mkdir()
    for name, content in (("modules.json", modules), ("1_Pooling/config.json", pooling)):
        (folder / name).write_text(json.dumps(content, indent=2) + "\n")


def hub_pooling(name: str) -> Path | None:
    """Return the folder of a hub model's pooling files, fetched beside its weights or earlier."""
    from transformers.utils.hub import cached_file

    folder = None
    for file in ("modules.json", "1_Pooling/config.json"):
        path = cached_file(name, file, **NO_ERRORS)
        folder = Path(path).parents[file.count("/")] if path else folder
    return folder


def _json(folder: Path | None, name: str, where: str, kind: Any) -> Any:
    if folder is None or not (folder / name).is_file():
        return None
    try:
        return msgspec.json.decode((folder / name).read_bytes(), type=kind)
    except JSON_ERRORS as error:
        raise ModelError(
            f"{where}: {name} cannot be read ({one_line(error)}); copy it from the original model"
        ) from error
