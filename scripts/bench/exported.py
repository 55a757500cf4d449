"""Model folders that both backends compute, tokenizers that know no text, and plain ONNX Runtime as a peer."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from convinse.encoder.checkpoint import Task
from convinse.encoder.exported import is_exported, read_exported
from convinse.encoder.onnx_backend import runtime
from convinse.encoder.tokens import TextTokenizer

from .harness import note


def exported(model: Path, folder: Path, task: Task | None = None) -> Path:
    """The model's folder if it has graphs for ONNX Runtime, else `folder`, to which it is exported."""
    if is_exported(model):
        return model
    if not is_exported(folder):
        from convinse.encoder.onnx_export import export_model

        note(f"exporting {model} ...")
        export_model(model, folder, task)
    return folder


def tokenizers(folder: Path, max_length: int) -> Callable[[], TextTokenizer]:
    """Makes tokenizers of an exported model; a new one knows the tokens of no text yet."""
    made = read_exported(folder, str(folder))
    tokenizer = _tokenizer(folder)
    return lambda: TextTokenizer(tokenizer, min(max_length, made.max_length), made.pad_id)


def _tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(folder / "tokenizer.json"))


class PlainOnnx:
    """The loop of a user of ONNX Runtime: pairs by the tokenizer, sorted by length, in batches of one size, on all cores."""

    batch = 32

    def __init__(self, folder: Path, precision: Any, max_length: int) -> None:
        onnxruntime = runtime()
        made = read_exported(folder, str(folder))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = len(os.sched_getaffinity(0))
        self._session = onnxruntime.InferenceSession(
            str(folder / made.graphs[precision]), options, providers=["CPUExecutionProvider"]
        )
        self._inputs, self._pad = made.inputs, made.pad_id
        self._tokenizer = _tokenizer(folder)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length, strategy="only_second")

    def odds(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """[n] log odds of pairs of texts."""
        encodings = self._tokenizer.encode_batch(list(pairs))
        lengths = np.array([len(encoding.ids) for encoding in encodings])
        order = np.argsort(lengths)
        odds = np.empty(len(pairs), np.float32)
        for start in range(0, len(order), self.batch):
            places = order[start : start + self.batch]
            shape = len(places), int(lengths[places[-1]])
            ids, mask, types = np.full(shape, self._pad), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
            for row, place in enumerate(places):
                encoding, length = encodings[place], lengths[place]
                ids[row, :length], mask[row, :length], types[row, :length] = encoding.ids, 1, encoding.type_ids
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
            feed = {name: inputs.get(name, np.arange(0)) for name in self._inputs}  # no rows for the other heads
            odds[places] = self._session.run(["relevance"], feed)[0]
        return odds
