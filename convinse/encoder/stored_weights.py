"""Where the weights of a model lie in its safetensors files: its graphs refer to them in place of having their own."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path

import torch
from onnx import TensorProto
from safetensors.torch import load_file

from .checkpoint import ANSWER_TYPE, REWRITE, YES_NO, Checkpoint
from .engine import Output
from .joint import restored

_TYPES = {"F32": TensorProto.FLOAT, "F16": TensorProto.FLOAT16, "BF16": TensorProto.BFLOAT16, "I8": TensorProto.INT8}


@dataclass(frozen=True)
class StoredTensor:
    """Where a tensor lies.

    Attributes:
        file: name of the safetensors file.
        type: of its numbers, as ONNX counts types.
        shape: of the tensor.
        offset: of its first byte in the file.
        length: in bytes.
    """

    file: str
    type: int
    shape: tuple[int, ...]
    offset: int
    length: int


def stored_weights(checkpoint: Checkpoint, folder: Path) -> dict[str, StoredTensor] | None:
    """Where the weights of a model and of its heads lie in the files of a folder, by their names in a traced model.

    None: the files have other weights, or under other names.
    """
    stored: dict[str, StoredTensor] = {}
    weights: dict[str, torch.Tensor] = {}
    for path in sorted(folder.glob("model*.safetensors")):
        stored |= _tensors(path)
        weights |= load_file(path)
    try:
        whole = restored({name: tensor for name, tensor in weights.items() if name in stored})
    except ValueError:
        return None
    for name, parameter in checkpoint.model.named_parameters():
        if name not in whole or not torch.equal(whole[name], parameter):
            return None
    named = {f"model.{name}": tensor for name, tensor in stored.items()}
    files: dict[Output, str] = {"yes_no": YES_NO, "answer_type": ANSWER_TYPE, "rewrite": REWRITE}
    for head, file in files.items():
        if (folder / file).is_file():
            named |= {f"{head}.{name}": tensor for name, tensor in _tensors(folder / file).items()}
    return named


def _tensors(path: Path) -> dict[str, StoredTensor]:
    with path.open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    tensors = {}
    for name, entry in header.items():
        if entry.get("dtype") in _TYPES:
            start, end = entry["data_offsets"]
            place = 8 + size + start
            tensors[name] = StoredTensor(path.name, _TYPES[entry["dtype"]], tuple(entry["shape"]), place, end - start)
    return tensors
