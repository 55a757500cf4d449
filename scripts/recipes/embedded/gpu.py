"""A teacher and both readers in minutes on a GPU, from files that are small enough to be sent there.

Here, once (`--data` is the shared data; MPNet as `recipes.embedded.mpnet` writes it):

    PYTHONPATH=scripts python -m recipes.embedded.gpu pack --data DIR --mpnet DIR --output parcel

On the GPU, over the folders of pieces that arrived there:

    PYTHONPATH=scripts python -m recipes.embedded.gpu run PARCEL ... --output back

Here, over what came back:

    PYTHONPATH=scripts python -m recipes.embedded.gpu finish BACK ... --mpnet DIR --output models
"""

import argparse
import json
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
from convinse.encoder.checkpoint import Checkpoint, load_checkpoint
from convinse.encoder.joint import WEIGHTS, JointModel, restored, stored
from convinse.encoder.onnx_export import write_graphs
from convinse.encoder.tokens import TextTokenizer
from convinse.support.checksums import sha256
from convinse.support.errors import ConvinseError, DataError
from convinse.training.objective import FitResult
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
        weights = {key: tensor for key, tensor in checkpoint.model.state_dict().items() if not _is_still(key)}
        about = {
            "minutes": round((time.perf_counter() - start) / 60, 1), "fitted": msgspec.to_builtins(result),
            "examples": prepared.sizes, "data": prepared.run_id,
        }  # fmt: skip
        files.append(work / f"{name}.learned")
        metadata = {"format": "pt", "about": json.dumps(about)}
        save_file(stored(weights, "int8"), files[-1], metadata=metadata)
    pack(files, options.output, int(options.most * (1 << 20)))


def _is_still(name: str) -> bool:
    # as the trainings begin with it: it need not come back
    return name.startswith(("bert.embeddings.word_embeddings", "bert.distance"))


def finish(options: argparse.Namespace) -> None:
    """Write the model folders of both students, with cards and graphs."""
    work = options.output / ".work"
    bases = {"reader": options.mpnet, "model": Path(resolve(FOLDERS["model"]))}
    for path in join(options.paths, work):
        name = path.name.partition(".")[0]
        recipe = msgspec.structs.replace(
            recipe_of(name, bases[name], None, options.device, 1.0), reader="teacher", base=str(bases[name])
        )
        checkpoint, _, base = start_from(msgspec.structs.replace(recipe, reader=None))
        about = learned(checkpoint, path)
        result = msgspec.convert(about["fitted"], FitResult)
        card = embedded_card(recipe, about["examples"], result, base.name, about["minutes"], {})
        record = {
            "recipe": {**msgspec.to_builtins(recipe), "base": base.name},
            "base": {"name": base.name, "sha256": sha256(base / WEIGHTS)},
            **{key: about[key] for key in ("examples", "data", "minutes")},
        }
        write_trained(checkpoint, options.output / name, card, result, record, write_graphs, storage="int8")


def learned(checkpoint: Checkpoint, path: Path) -> dict[str, Any]:
    """Put what came back into a model as it began, and return what is told of its training. Raises `DataError`."""
    model = checkpoint.model
    assert isinstance(model, JointModel)
    weights = restored(load_file(path))
    missing, unexpected = model.load_state_dict(weights, strict=False)
    if unexpected or any(not _is_still(name) for name in missing):
        raise DataError(f"{path.name}: is not of the model that {CONFIG} makes; pack and train again")
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        about: dict[str, Any] = json.loads(json.loads(file.read(size))["__metadata__"]["about"])
    return about


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
        if name != "run":
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
