"""A teacher and both readers in minutes on a GPU, from files that are small enough to be sent there.

Here, once (`--data` is the shared data; MPNet as `recipes.embedded.mpnet` writes it):

    PYTHONPATH=scripts python -m recipes.embedded.gpu pack --data DIR --mpnet DIR --output parcel

On the GPU, over the folders of pieces that arrived there:

    PYTHONPATH=scripts python -m recipes.embedded.gpu run PARCEL ... --output back

Here, over what came back:

    PYTHONPATH=scripts python -m recipes.embedded.gpu finish BACK ... --output models
"""

import argparse
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors.torch import load_file, save_file

from convinse.config import SNAPSHOT, load_settings, resolve
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.joint import WEIGHTS, stored
from convinse.encoder.onnx_export import write_graphs
from convinse.encoder.tokens import TextTokenizer
from convinse.support.checksums import sha256
from convinse.support.errors import ConvinseError
from convinse.support.manifest import MANIFEST, seal
from convinse.training.trainer import write_trained
from recipes.embedded.__main__ import examples_of, start_from
from recipes.embedded.card import embedded_card
from recipes.embedded.parcel import join, pack
from recipes.embedded.prepared import Prepared
from recipes.embedded.recipe import Recipe, calibrate_heads, prepare, train_trunk

LOGGER = logging.getLogger("convinse.train_embedded")
LISTS = "lists"  # the prepared examples
CONFIG = "model/gpu.yml"
FOLDERS = {"mpnet": "mpnet", "model": f"{SNAPSHOT}model"}  # what the trainings begin with
_OF_FOLDER = ("config.json", "tokenizer.json", "tokenizer_config.json", WEIGHTS)
_EVERY = 1_000_000  # steps: the embedding does not learn
# Minutes are those of an H100; together with validations and starting they stay below nine. Both students begin with the teacher's
# answers at hand, so they are taught by it; the narrow one also stays a bi-encoder.
MODELS: dict[str, dict[str, Any]] = {
    "teacher": {"learning_rate": 7e-5, "embedding_every": _EVERY, "minutes": 3.6},
    "reader": {"layers": [0, 2, 4, 6, 8, 10], "learning_rate": 1e-4, "embedding_every": _EVERY, "minutes": 2.9},
    "model": {"learning_rate": 1.5e-4, "embedding_every": 4, "minutes": 1.6, "teacher": "base"},
}


def recipe_of(name: str, base: Path, reader: Path | None, device: str, scale: float) -> Recipe:
    """The recipe of a model; `scale` is that of the minutes."""
    changes = {**MODELS[name], "base": str(base), "reader": reader and str(reader), "device": device}
    recipe = load_settings(Recipe, CONFIG)
    return msgspec.structs.replace(recipe, **{**changes, "minutes": scale * changes["minutes"]})


def pack_all(options: argparse.Namespace) -> None:
    """Write the parcel: the examples as tokens, and the weights that the trainings begin with."""
    recipe = load_settings(Recipe, CONFIG)
    folders = {"mpnet": options.mpnet, "model": Path(resolve(FOLDERS["model"]))}
    checkpoint = load_checkpoint(folders["model"], "question-answering", "model")
    work = options.output.with_name(f"{options.output.name}.work")
    data = examples_of(recipe, options.data, work)
    prepared = prepare(data, recipe, TextTokenizer.of(checkpoint, recipe.max_length), checkpoint.model)
    work.mkdir(parents=True, exist_ok=True)
    prepared.write(work / LISTS)
    files = [work / LISTS]
    for name, folder in folders.items():
        for file in _OF_FOLDER:
            target = work / f"{name}.{file}"
            if file == WEIGHTS:  # in int8: what the trainings begin with need not be exact
                weights = load_file(folder / file)
                is_rounded = any(not tensor.is_floating_point() for tensor in weights.values())
                save_file(weights if is_rounded else stored(weights, "int8"), target, metadata={"format": "pt"})
            else:
                target.write_bytes((folder / file).read_bytes())
            files.append(target)
    pack(files, options.output, int(options.most * (1 << 20)))


def unpacked(folders: Sequence[Path], work: Path) -> Path:
    """The joined files of a parcel: the lists, and a folder for each of the models that the trainings begin with."""
    for path in join(folders, work):
        name, _, file = path.name.partition(".")
        if file:
            (work / name).mkdir(exist_ok=True)
            path.rename(work / name / file)
    return work


def run(options: argparse.Namespace) -> None:
    """Train the teacher, then both students, and pack what has been learned."""
    work = unpacked(options.paths, options.output.with_name(f"{options.output.name}.work"))
    prepared = Prepared.read(work / LISTS)
    files = []
    for name in MODELS:
        start = time.perf_counter()
        base = {"teacher": work / "mpnet", "reader": work / "teacher", "model": work / "model"}[name]
        reader = None if name == "teacher" else work / "teacher"
        recipe = recipe_of(name, base, reader, options.device, options.minutes)
        checkpoint, teachers, _ = start_from(recipe)
        result = train_trunk(checkpoint, teachers, prepared, recipe, work / f".{name}")
        if name == "teacher":
            checkpoint.model.save_pretrained(work / name)
            checkpoint.tokenizer.save_pretrained(work / name)
            continue
        calibrate_heads(checkpoint, prepared, recipe)
        minutes = round((time.perf_counter() - start) / 60, 1)
        origin = "mpnet" if name == "reader" else base.name
        of_model = msgspec.structs.replace(recipe, base=origin, reader="teacher")
        record = {
            "recipe": msgspec.to_builtins(of_model),
            "base": {"name": base.name, "sha256": sha256(base / WEIGHTS)},
            "examples": prepared.sizes,
            "data": prepared.run_id,
            "minutes": minutes,
        }
        card = embedded_card(of_model, prepared.sizes, result, origin, minutes, {})
        write_trained(checkpoint, work / "models" / name, card, result, record, storage="int8")
        for path in sorted((work / "models" / name).iterdir()):
            if path.name != MANIFEST:
                files.append(path.rename(work / f"{name}.{path.name}"))
    pack(files, options.output, int(options.most * (1 << 20)))


def finish(options: argparse.Namespace) -> None:
    """Join the folders of both students, and add their graphs."""
    unpacked(options.paths, options.output)
    for name in ("reader", "model"):
        folder = options.output / name
        write_graphs(folder)
        seal(folder, "model")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    for name, action in (("pack", pack_all), ("run", run), ("finish", finish)):
        command = actions.add_parser(name, help=(action.__doc__ or "").splitlines()[0])
        command.set_defaults(run=action)
        if name != "pack":
            command.add_argument("paths", type=Path, nargs="+", metavar="DIR", help="folders of pieces")
        if name == "pack":
            command.add_argument("--data", type=Path, required=True, metavar="DIR", help="the shared data sets")
            command.add_argument("--mpnet", type=Path, required=True, metavar="DIR")
        command.add_argument("--output", type=Path, required=True, metavar="DIR")
        command.add_argument("--most", type=float, default=15.0, metavar="MIB", help="of a piece (default: 15)")
        command.add_argument("--device", default="auto")
        command.add_argument("--minutes", type=float, default=1.0, metavar="SCALE", help="of the time of each training")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    try:
        options.run(options)
    except ConvinseError as error:
        print(f"gpu: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    sys.exit(main())
