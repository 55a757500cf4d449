"""Commands of models alone: read, export."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from .arguments import UNCHANGED, Commands, add_reader, reader_config
from .output import say_next


def add(commands: Commands) -> None:
    """Add `read`, `export`."""
    sub = commands.add("read", _read, "answers to the questions of a file, with an extractive reader")
    sub.add_argument("data", metavar="DATA", help="an MRQA, SQuAD or MultiQA file, plain or packed")
    sub.add_argument("--output", required=True, metavar="FILE", help="the predictions: {qid: answer} as JSON")
    add_reader(sub)
    sub.add_argument(
        "--from", dest="source", metavar="NAME", help="the format of DATA (default: guessed from its content)"
    )
    sub.add_argument("--na-probs", metavar="FILE", help="also write {qid: probability that there is no answer}")
    sub.add_argument(
        "--no-answer",
        type=_share,
        metavar="P",
        help="predict no answer (an empty text) if its probability is above P, such as 0.5",
    )

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
    manifest, difference, correlation = export_model(model, output, options.task)
    sizes = {name: f"{(output / name).stat().st_size / 1e6:.1f} MB" for name in sorted(manifest.files)}
    measured = {
        "fp32, greatest difference from PyTorch": f"{difference:.1e}",
        "int8, least correlation with PyTorch": f"{correlation:.4f}"
        + ("" if "int8" in manifest.graphs else ": too coarse, left out"),
    }
    print_pairs(f"{output}: {', '.join(manifest.outputs)}", sizes | measured)
    say_next(f"ask --set ha_model={output} 'QUESTION'", "or name it where the model was named")
    return 0


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a probability; give a number from 0 to 1")
    return value


def _read(options: argparse.Namespace) -> int:
    from ..resources import Resources
    from ..support.errors import ConfigError
    from .dataset_reading import read_file

    config = reader_config(options)
    model = options.model or config.ha_model
    if model is None:
        raise ConfigError("read needs a model: give --model FOLDER, or --config FILE with ha_model")
    data, outputs = Path(options.data), [Path(name) for name in (options.output, options.na_probs) if name]
    for output in outputs:
        if output.resolve() == data.resolve():
            raise ConfigError(f"{output}: is the file to read; give another name for the result")
        if output.is_dir():
            raise ConfigError(f"{output}: is a folder; give a file")
    if len(outputs) == 2 and outputs[0].resolve() == outputs[1].resolve():
        raise ConfigError(f"{outputs[0]}: predictions and probabilities cannot be one file")
    reader = Resources(config).reader(model, key="--model" if options.model else "ha_model")
    predictions = read_file(data, reader, options.source, options.quiet)
    above = 1.0 if options.no_answer is None else options.no_answer
    texts = {qid: "" if no_answer > above else text for qid, (text, no_answer) in predictions.items()}
    _write(outputs[0], texts)
    if options.na_probs:
        _write(outputs[1], {qid: round(no_answer, 6) for qid, (_, no_answer) in predictions.items()})
    print(f"{outputs[0]}: {len(texts):,} predictions")
    say_next(f"evaluate mrqa {data} {outputs[0]}", "or squad, klue-mrc")
    return 0


def _write(path: Path, values: Mapping[str, object]) -> None:
    import msgspec

    from ..support.files import replacing

    with replacing(path) as temporary:
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode(values), indent=1) + b"\n")
