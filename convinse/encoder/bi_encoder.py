"""Embeddings of texts by a BERT: mean-pooled or [CLS], of length 1."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..support.errors import ModelError, one_line
from .checkpoint import Checkpoint
from .pool import HeadOptions, ModelHead

if TYPE_CHECKING:
    import torch
    from typing_extensions import Unpack


_SHOWN = 120  # characters of a text in a message


class BiEncoder(ModelHead):
    """Embeds texts; the dot product of two embeddings is their cosine. See `ModelHead` for the arguments.

    Any Hugging Face checkpoint of a BERT-like model, sentence-transformers' folders included: their `1_Pooling`
    says how token vectors become one (mean, or the vector of [CLS]); without it they are averaged. Folders that do
    something else with them are refused.
    """

    task = "embedding"

    def __init__(
        self, model: str | Path | Checkpoint, device: str | None = None, **options: Unpack[HeadOptions]
    ) -> None:
        super().__init__(model, device, **options)
        checkpoint = self._loaded.checkpoint
        self.dimension = int(checkpoint.model.config.hidden_size)
        self._name = f"{self.settings.key}: {model}"
        self._pool_first = pools_first(checkpoint.folder or hub_pooling(str(model)), self._name)
        self.model_id = f"{checkpoint.model_id}/{self.tokenizer.max_length}/{self.engine.precision}"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """[n, dimension] float32, each row of length 1.

        Raises:
            ModelError: an embedding is not a number; the message names the text.
        """
        distinct = list(dict.fromkeys(texts))
        vectors = np.empty((len(distinct), self.dimension), dtype=np.float32)
        for places, batch in self.engine.run(self.tokenizer.singles(distinct), self._pool):
            vectors[places] = batch
        wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(wrong):
            raise ModelError(
                f"{self._name}: the embedding of {distinct[int(wrong[0])][:_SHOWN]!r} is not a number "
                f"({len(wrong)} of {len(distinct)} texts); the model's weights are broken, or try precision: fp32"
            )
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        place_of = {text: place for place, text in enumerate(distinct)}
        return vectors[[place_of[text] for text in texts]]

    def _pool(self, output: Any, mask: torch.Tensor) -> torch.Tensor:
        return pooled(output.last_hidden_state, mask, self._pool_first)


def pooled(hidden: torch.Tensor, mask: torch.Tensor, first: bool = False) -> torch.Tensor:
    """[b, d] of [b, tokens, d]: the vector of [CLS], or the mean of those that the mask [b, tokens] keeps."""
    if first:
        return hidden[:, 0]
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


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
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{where}: {name} cannot be read ({one_line(error)}); copy it from the original model"
        ) from error
    return content
