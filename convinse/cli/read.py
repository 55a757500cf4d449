"""The command that reads answers from a file: read."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from .arguments import Commands, add_reader, reader_config


def add(commands: Commands) -> None:
    """`read`."""
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
        help="predict no answer (an empty text) where its probability is above P, such as 0.5",
    )


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no probability; give a number from 0 to 1")
    return value


def _read(options: argparse.Namespace) -> int:
    from ..heterogeneous_answering.dataset_predictions import read_file
    from ..resources import Resources
    from ..support.errors import ConfigError

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
    texts = {qid: "" if answer.no_answer > above else answer.text for qid, answer in predictions.items()}
    _write(outputs[0], texts)
    if options.na_probs:
        _write(outputs[1], {qid: round(answer.no_answer, 6) for qid, answer in predictions.items()})
    print(f"{outputs[0]}: {len(texts):,} predictions")
    return 0


def _write(path: Path, values: Mapping[str, object]) -> None:
    import msgspec

    from ..support.files import replacing

    with replacing(path) as temporary:
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode(values), indent=1) + b"\n")
