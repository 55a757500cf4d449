"""How token vectors become one embedding, as the files of sentence-transformers say it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..support.errors import ModelError, one_line


def pools_first(folder: Path | None, where: str) -> bool:
    """Whether [CLS] stands for a text, by the files that sentence-transformers writes."""
    modules = _json(folder, "modules.json", where, [])
    more = {str(module.get("type")).rsplit(".", 1)[-1] for module in modules} - {"Transformer", "Pooling", "Normalize"}
    if more:
        raise ModelError(f"{where}: has a module {min(more)} after its pooling, which is not supported")
    settings = _json(folder, "1_Pooling/config.json", where, {})
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
    """Where the pooling files of a hub model are: fetched beside its weights, or kept from an earlier time."""
    from transformers.utils.hub import cached_file

    folder = None
    for file in ("modules.json", "1_Pooling/config.json"):
        path = cached_file(
            name, file, _raise_exceptions_for_missing_entries=False, _raise_exceptions_for_connection_errors=False
        )
        folder = Path(path).parents[file.count("/")] if path else folder
    return folder


def _json(folder: Path | None, name: str, where: str, default: Any) -> Any:
    path = None if folder is None else folder / name
    if path is None or not path.is_file():
        return default
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if type(content) is not type(default):
            raise ValueError(f"a {type(content).__name__} where a {type(default).__name__} belongs")
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(
            f"{where}: {name} cannot be read ({one_line(error)}); copy it from the original model"
        ) from error
    return content
