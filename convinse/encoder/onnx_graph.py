"""ONNX graphs of models: traced with their heads, over the weights in a checkpoint's safetensors files, also in true int8."""

from __future__ import annotations

import json
import struct
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from safetensors.torch import load_file
from torch import nn

from .checkpoint import HEAD_FILES, Checkpoint
from .engine import PER_TOKEN, Output
from .exported import HEADS_WITH_ROWS, rows_of
from .heads import load_heads
from .joint import LEVELS, SCALES, restored
from .pooling import pools_first
from .tokens import Sequences
from .torch_backend import model_inputs, of_head

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_TYPES = {"F32": TensorProto.FLOAT, "F16": TensorProto.FLOAT16, "BF16": TensorProto.BFLOAT16, "I8": TensorProto.INT8}
_OPSET = 17  # the first version of ONNX's operators with layer normalisation
# Channels behind a layer normalisation that are not rounded. On 2,700 pairs of the embedded train part the scores' error (root mean
# square) was 0.050 with none, 0.036 with 2, 0.034 with 4, 0.031 with 8, 0.026 with 16 and as many before every product.
_WIDEST = 8
# Steps of a token, which with the rounded place of 0 have levels up to 129: a processor without VNNI adds two products in 16 bits, and
# 2 * 129 * 127 is below 32,768. With 255 steps it needs slower products (4,583 tokens a second, 3,908; wide reader, two cores).
_STEPS = 128
# of all tokens: the size of a step as a share of the token's span, and what divides a token is never less than `tiny`
_CONSTANTS: Mapping[str, np.ndarray | np.generic | float] = {
    "share": 1 / _STEPS, "tiny": 1e-12, "nothing": 0.0, "one": 1.0, "zero": np.uint8(0),
    "first": np.array([0]), "second": np.array([1]), "last": np.array([-1]), "end": np.array([np.iinfo(np.int64).max]),
}  # fmt: skip
_USUAL = 0.99  # share of a channel's numbers that its width is judged by
_INTEGER_PRODUCT = "com.microsoft"  # where ONNX Runtime has MatMulIntegerToFloat


def stored_weights(checkpoint: Checkpoint, folder: Path) -> dict[str, TensorProto] | None:
    """Return the weights of a model and of its heads as places in the files of a folder, by their names in a traced model.

    None: the files have other weights, or under other names.
    """
    stored: dict[str, TensorProto] = {}
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
    for head, (_, file) in HEAD_FILES.items():
        if (folder / file).is_file():
            named |= {f"{head}.{name}": tensor for name, tensor in _tensors(folder / file).items()}
    return named


def _tensors(path: Path) -> dict[str, TensorProto]:
    with path.open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    tensors = {}
    for name, entry in header.items():
        if entry.get("dtype") in _TYPES:
            start, end = entry["data_offsets"]
            kind, shape = _TYPES[entry["dtype"]], entry["shape"]
            tensor = TensorProto(data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
            for field, value in (("location", path.name), ("offset", 8 + size + start), ("length", end - start)):
                tensor.external_data.add(key=field, value=str(value))
            tensors[name] = tensor
    return tensors


class _ExportedHeads(nn.Module):
    def __init__(
        self,
        model: PreTrainedModel,
        heads: Mapping[Output, nn.Module],
        first: bool,
        inputs: Sequence[str],
        outputs: Sequence[Output],
    ) -> None:
        super().__init__()
        self.model = model
        self._heads = dict(heads)
        for name, head in heads.items():
            self.add_module(name, head)  # what its weights are named after
        self._first, self._inputs, self._outputs = first, inputs, outputs

    def forward(self, *arguments: torch.Tensor) -> tuple[torch.Tensor, ...]:
        # [b, tokens] arguments, and the rows that some heads compute
        named = dict(zip(self._inputs, arguments, strict=True))
        rows = {name: named.pop(rows_of(name)) for name in self._heads}
        mask = named["attention_mask"]
        output = self.model(**named, **({"output_hidden_states": True} if rows else {}))
        made: dict[str, torch.Tensor] = {}
        for name in self._outputs:
            if name in self._heads:
                head: Any = self._heads[name]
                states = output.hidden_states[head.layer].index_select(0, rows[name])
                made[name] = head(states, mask.index_select(0, rows[name]))
            else:
                made[name] = of_head(name, output, mask, self._first)
        return tuple(made[name] for name in self._outputs)


def traced_model(checkpoint: Checkpoint, folder: Path, sample: Sequences, outputs: Sequence[Output]) -> onnx.ModelProto:
    """Return a model with its heads as PyTorch exports it: the weights in float32 and named as `stored_weights` does.

    The checkpoint's model gets PyTorch's plain attention; `sample` has two sequences or more.
    """
    model = checkpoint.model
    model.set_attn_implementation("eager")  # the others fix shapes
    with_rows = [name for name in outputs if name in HEADS_WITH_ROWS]
    heads = load_heads(folder, model.config) if with_rows else {}  # type: ignore[arg-type] # a BERT's
    arguments = model_inputs(model, sample, np.arange(2), torch.device("cpu"))
    axes: dict[str, dict[int, str]] = {name: {0: "batch", 1: "tokens"} for name in (*arguments, "spans")}
    axes |= {"relevance": {0: "batch"}, "embedding": {0: "batch"}}
    for name in with_rows:
        rows = {0: f"{name}_asked"}
        axes |= {name: rows | ({1: "tokens"} if name in PER_TOKEN else {}), rows_of(name): rows}
        arguments[rows_of(name)] = torch.tensor([1, 0, 1])
    module = _ExportedHeads(model, heads, pools_first(folder, "model"), list(arguments), outputs)
    with tempfile.TemporaryDirectory() as temporary, warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # of what a trace takes for constant; the graph is tried with other inputs
        path = Path(temporary) / "model.onnx"  # with the weights beside it where they exceed 2 GB
        torch.onnx.export(
            module.eval(),
            tuple(arguments.values()),
            str(path),
            input_names=list(arguments),
            output_names=list(outputs),
            dynamic_axes={name: axes[name] for name in (*arguments, *outputs)},
            opset_version=_OPSET,
            dynamo=False,
            do_constant_folding=False,  # it would change weights and their names
        )
        return onnx.load(str(path))


def trunk_of(model: PreTrainedModel) -> str:
    """Return the beginning of the names of a traced model's weights, except those of its heads."""
    prefix = model.base_model_prefix
    return f"model.{prefix}." if prefix and hasattr(model, prefix) else "model."


def over_weights(
    traced: onnx.ModelProto,
    stored: Mapping[str, TensorProto],
    rounded: str | None = None,
    wide: Mapping[str, np.ndarray] | None = None,
) -> onnx.ModelProto:
    """Return a traced model in float32 as a graph over weights that are `stored` under the same names.

    Products of matrices whose names begin with `rounded` are computed in int8; their inputs are rounded token by token, so
    that a text's score does not depend on its batch. `wide` are the channels that are not rounded, see `widest_channels`.
    """
    return _Rewriting(traced, stored, rounded, wide or {}).model


@contextmanager
def widest_channels(model: nn.Module) -> Iterator[dict[str, np.ndarray]]:
    """Find the widest channels [d] behind every layer normalisation, by its weight's name, while a model computes.

    A few channels of a BERT are several times as wide as all others, and would make the levels of a token as much coarser.
    """
    widest: dict[str, np.ndarray] = {}
    seen: dict[str, list[torch.Tensor]] = defaultdict(list)

    def watch(name: str) -> Callable[[nn.Module, Any, torch.Tensor], None]:
        return lambda _, __, output: seen[name].append(output.flatten(0, -2).float())

    hooks = [
        module.register_forward_hook(watch(f"model.{name}.weight"))
        for name, module in model.named_modules()
        if isinstance(module, nn.LayerNorm)
    ]
    try:
        yield widest
    finally:
        for hook in hooks:
            hook.remove()
    for name, parts in seen.items():
        numbers = torch.cat(parts)
        width = (numbers - numbers.mean(dim=1, keepdim=True)).abs().quantile(_USUAL, dim=0)
        if len(width) > _WIDEST:
            widest[name] = np.zeros(len(width), dtype=bool)
            widest[name][width.topk(_WIDEST).indices.numpy()] = True


class _Rewriting:
    def __init__(
        self,
        traced: onnx.ModelProto,
        stored: Mapping[str, TensorProto],
        rounded: str | None,
        wide: Mapping[str, np.ndarray],
    ) -> None:
        self._stored, self._wide = stored, wide
        self._nodes: list[onnx.NodeProto] = []
        self._tensors: dict[str, TensorProto] = {}
        self._matrices: dict[str, tuple[str, np.ndarray]] = {}  # by the name of what is transposed: the weight
        self._tokens: set[str] = set()
        self._biased: set[str] = set()  # outputs of sums that are a part of a product
        self._vectors = {
            tensor.name: numpy_helper.to_array(tensor) for tensor in traced.graph.initializer if len(tensor.dims) == 1
        }
        self._readers: dict[str, list[onnx.NodeProto]] = defaultdict(list)
        self._made_by = {output: node for node in traced.graph.node for output in node.output}
        for node in traced.graph.node:
            for name in node.input:
                self._readers[name].append(node)
        for initializer in traced.graph.initializer:
            self._weight(initializer, rounded)
        for node in traced.graph.node:
            self._rewrite(node)
        read = {name for node in self._nodes for name in node.input}
        tensors = [tensor for name, tensor in self._tensors.items() if name in read]  # not the vectors within products
        graph = helper.make_graph(self._nodes, "model", traced.graph.input, traced.graph.output, tensors)
        opsets = [*traced.opset_import, helper.make_opsetid(_INTEGER_PRODUCT, 1)]
        self.model = helper.make_model(graph, opset_imports=opsets, ir_version=traced.ir_version)

    def _weight(self, initializer: TensorProto, rounded: str | None) -> None:
        name, tensor = initializer.name, self._stored.get(initializer.name)
        if tensor is None:
            self._tensors[name] = initializer
            return
        if rounded is not None and name.startswith(rounded) and self._multiplies(name):
            weight = numpy_helper.to_array(initializer)
            self._matrices |= {reader.output[0]: (name, weight) for reader in self._readers[name]}
            return
        if tensor.data_type == TensorProto.FLOAT:
            self._external(name, name)
            return
        stored = self._external(f"{name}.stored", name)
        scales = self._external(name + SCALES, name + SCALES) if tensor.data_type == TensorProto.INT8 else None
        if not self._is_table(name):
            self._widen(stored, scales, name)

    def _rewrite(self, node: onnx.NodeProto) -> None:
        source = node.input[0] if node.input else ""
        if node.op_type == "Gather" and f"{source}.stored" in self._tensors and self._is_table(source):
            output, scales = node.output[0], source + SCALES
            rows = self._add("Gather", [f"{source}.stored", node.input[1]], f"{output}.stored")
            if scales in self._tensors:
                scales = self._add("Gather", [scales, node.input[1]], f"{output}.scales")
            self._widen(rows, scales if source + SCALES in self._tensors else None, output)
        elif node.op_type == "MatMul" and node.input[1] in self._matrices:
            self._multiply(node.input[1], source, node.output[0])
        elif not (node.output and (node.output[0] in self._matrices or node.output[0] in self._biased)):
            self._nodes.append(node)

    def _multiply(self, transposed: str, source: str, output: str) -> None:
        # output = source [..., in] times a matrix [in, out], in int8, and what is added to each row if that is all that follows
        bias, whole = self._bias(output)
        levels, scales, exact = self._levels(transposed, source, bias)
        token = self._token(source)
        self._add("MatMulIntegerToFloat", [f"{token}.levels", levels, "one", scales, "zero"], f"{output}.product", domain=_INTEGER_PRODUCT)  # fmt: skip
        self._add("Mul", [f"{output}.product", f"{token}.step"], f"{output}.scaled")
        self._add("Gemm", [f"{token}.exact", exact, f"{output}.scaled"], f"{output}.rows")
        self._constant(f"{output}.width", np.array([len(self._matrices[transposed][1])]))
        self._add("Concat", [f"{token}.shape", f"{output}.width"], f"{output}.shape", axis=0)
        self._add("Reshape", [f"{output}.rows", f"{output}.shape"], whole)

    def _bias(self, output: str) -> tuple[np.ndarray | None, str]:
        # the vector that is added to a product, and the name of the sum; None and the product's own name without one
        readers = self._readers[output]
        if len(readers) == 1 and readers[0].op_type == "Add":
            for name in readers[0].input:
                if name in self._vectors:
                    self._biased.add(readers[0].output[0])
                    return self._vectors[name], readers[0].output[0]
        return None, output

    def _token(self, source: str) -> str:
        # Round each token [rows, in] between its least and its largest number, except its widest channels. The returned name begins
        # the names of its `levels`, its `step` [rows, 1], its `exact` part (what a level of 0 stands for, the widest channels, 1), and
        # the `shape` of the rows.
        token = f"{source}.rounded"
        if token in self._tokens:
            return token
        self._tokens.add(token)
        for name, value in _CONSTANTS.items():
            self._constant(name, value)
        self._add("Shape", [source], f"{token}.whole")
        self._add("Slice", [f"{token}.whole", "first", "last"], f"{token}.shape")
        self._add("Slice", [f"{token}.whole", "last", "end"], f"{token}.width")
        self._add("Concat", ["last", f"{token}.width"], f"{token}.flat", axis=0)
        rounded = rows = self._add("Reshape", [source, f"{token}.flat"], f"{token}.rows")
        parts = [f"{token}.least"]
        widest = self._widest(source)
        if widest is not None:
            self._constant(f"{token}.others", (~widest).astype(np.float32))
            self._constant(f"{token}.places", np.flatnonzero(widest))
            rounded = self._add("Mul", [rows, f"{token}.others"], f"{token}.narrow")
            parts.append(self._add("Gather", [rows, f"{token}.places"], f"{token}.wide", axis=1))
        each = {"axes": [1], "keepdims": 1}
        self._add("Max", [self._add("ReduceMax", [rounded], f"{token}.largest", **each), "nothing"], f"{token}.most")
        self._add("Min", [self._add("ReduceMin", [rounded], f"{token}.smallest", **each), "nothing"], f"{token}.below")
        self._add("Sub", [f"{token}.most", f"{token}.below"], f"{token}.span")
        self._add("Mul", [f"{token}.span", "share"], f"{token}.part")
        self._add("Max", [f"{token}.part", "tiny"], f"{token}.step")
        self._add("Div", [f"{token}.below", f"{token}.step"], f"{token}.levels_below")
        self._add("Round", [f"{token}.levels_below"], f"{token}.place")
        self._add("Mul", [f"{token}.place", f"{token}.step"], parts[0])
        parts.append(self._add("Div", [f"{token}.step", f"{token}.step"], f"{token}.ones"))
        self._add("Concat", parts, f"{token}.exact", axis=1)
        zero = self._add("Neg", [f"{token}.place"], f"{token}.above")
        zero = self._add(
            "Cast",
            [self._add("Squeeze", [zero, "second"], f"{token}.flat_above")],
            f"{token}.zero",
            to=TensorProto.UINT8,
        )
        step = self._add("Squeeze", [f"{token}.step", "second"], f"{token}.flat_step")
        self._add("QuantizeLinear", [rounded, step, zero], f"{token}.levels", axis=0)
        return token

    def _widest(self, source: str) -> np.ndarray | None:
        # channels that are not rounded, behind a layer normalisation
        node = self._made_by.get(source)
        return self._wide.get(node.input[1]) if node is not None and len(node.input) > 1 else None

    def _levels(self, transposed: str, source: str, bias: np.ndarray | None) -> tuple[str, str, str]:
        # names of a matrix's levels [in, out], of its scales [out] and of the factor of the exact part of `source` and of 1
        name, weight = self._matrices[transposed]
        scales, exact = name + SCALES, f"{name}.exact"
        if f"{name}.levels" not in self._tensors:
            if self._stored[name].data_type == TensorProto.INT8:
                self._external(f"{name}.levels", name)
                self._external(scales, scales)
            else:
                row_scales = np.maximum(np.abs(weight).max(axis=1) / LEVELS, np.finfo(np.float32).tiny)
                levels = np.round(weight / row_scales[:, None]).astype(np.int8)
                weight = levels * row_scales[:, None]
                self._constant(f"{name}.levels", levels)
                self._constant(scales, row_scales)
            self._add("Transpose", [f"{name}.levels"], f"{name}.transposed", perm=[1, 0])
            widest = self._widest(source)
            rows = [] if widest is None else list(weight[:, widest].T)
            rows.append(np.zeros(len(weight)) if bias is None else bias)
            self._constant(exact, np.stack([weight.sum(axis=1, dtype=np.float64), *rows]))
        return f"{name}.transposed", scales, exact

    def _widen(self, stored: str, scales: str | None, output: str) -> None:
        # stored numbers [..., d] as float32, times the scales [...]
        if scales is None:
            self._add("Cast", [stored], output, to=TensorProto.FLOAT)
            return
        self._constant("last", np.array([-1]))
        self._add("Cast", [stored], f"{output}.cast", to=TensorProto.FLOAT)
        self._add("Unsqueeze", [scales, "last"], f"{output}.column")
        self._add("Mul", [f"{output}.cast", f"{output}.column"], output)

    def _is_table(self, name: str) -> bool:
        return all(
            reader.op_type == "Gather"
            and reader.input[0] == name
            and not any(attribute.name == "axis" and attribute.i for attribute in reader.attribute)
            for reader in self._readers[name]
        )

    def _multiplies(self, name: str) -> bool:
        return all(
            reader.op_type == "Transpose"
            and all(
                product.op_type == "MatMul" and product.input[1] == reader.output[0]
                for product in self._readers[reader.output[0]]
            )
            for reader in self._readers[name]
        )

    def _add(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def _constant(self, name: str, value: np.ndarray | np.generic | float) -> None:
        array = np.asarray(value)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        self._tensors.setdefault(name, numpy_helper.from_array(array, name))

    def _external(self, name: str, key: str) -> str:
        tensor = TensorProto(name=name)
        tensor.MergeFrom(self._stored[key])
        self._tensors[name] = tensor
        return name
