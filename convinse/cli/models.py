"""The command that makes models fast: export."""

from __future__ import annotations

import argparse
from pathlib import Path

from .arguments import UNCHANGED, Commands


def add(commands: Commands) -> None:
    """`export`."""
    sub = commands.add("export", _export, "a model as a folder that ONNX Runtime computes, without PyTorch", UNCHANGED)
    sub.add_argument("model", metavar="MODEL", help="a folder with model.safetensors, snapshot:model, or a hub name")
    sub.add_argument("--to", choices=("onnx",), default="onnx", help="the format (default, and all there is: onnx)")
    sub.add_argument("--output", required=True, metavar="DIR", help="the folder to write")
    sub.add_argument(
        "--task",
        choices=("sequence-classification", "question-answering", "embedding"),
        help="what the model is for (default: as its config.json says)",
    )


def _export(options: argparse.Namespace) -> int:
    from ..config import SNAPSHOT, resolve
    from ..encoder.onnx_export import export_model
    from ..support.errors import OutputError
    from .tables import print_pairs

    output = Path(options.output).expanduser()
    if output.exists() and not (output.is_dir() and not any(output.iterdir())):
        raise OutputError(f"{output}: is there already, and is not empty; name another --output")
    model = resolve(options.model) if options.model.startswith(SNAPSHOT) else options.model
    report = export_model(model, output, options.task)
    sizes = {name: f"{(output / name).stat().st_size / 1e6:.1f} MB" for name in sorted(report.manifest.files)}
    measured = {
        "fp32, greatest difference from PyTorch": f"{report.difference:.1e}",
        "int8, least correlation with PyTorch": f"{report.correlation:.4f}",
    }
    print_pairs(f"{output}: {', '.join(report.manifest.outputs)}", sizes | measured)
    return 0
