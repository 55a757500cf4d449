"""The model card that `train embedded` writes beside the weights; its text is in `card.yml`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from convinse.training.objective import FitResult
from convinse.training.trainer import model_card, settings_list, validation_table
from recipes.embedded.reading import DATA_SETS, READING_FILES
from recipes.embedded.recipe import Recipe

Trained = Mapping[str, tuple[Any, FitResult]]  # name of a head -> the head, and what its training gave
_TEXTS: dict[str, Any] = msgspec.yaml.decode(Path(__file__).with_suffix(".yml").read_bytes())


def content_and_licence(name: str) -> tuple[str, str]:
    own = DATA_SETS[name]
    return f"{own.content}; from {own.origin}" if own.origin else own.content, own.licence


def embedded_card(
    recipe: Recipe, sizes: Mapping[str, int], last: FitResult, base: str, minutes: float, heads: Trained
) -> str:
    """The card of a trained model."""
    names = sorted({name for stage in recipe.stages for name in stage.mixture})
    head = "".join(f" an epoch of stage {number} |" for number in range(1, len(recipe.stages) + 1))
    rows = [f"| set | licence | examples to train on |{head}", f"|---|---|---:|{'---:|' * len(recipe.stages)}"]
    for name in names:
        size = sizes.get(name, 0)
        drawn = (f"{min(stage.mixture.get(name, 0), size):,}" for stage in recipe.stages)
        rows.append(f"| {' | '.join((*content_and_licence(name), f'{size:,}', *drawn))} |")
    settings = {key: value for key, value in msgspec.to_builtins(recipe).items() if key not in ("stages", "base")}
    for number, stage in enumerate(recipe.stages, 1):
        alone = (f"{share:.0%} of {name} without negatives" for name, share in sorted(stage.alone.items()))
        told = (f"{stage.epochs} epochs", f"learning rate {stage.learning_rate:g}", *alone)
        settings[f"stage {number}"] = ", ".join(told)
    limits = _TEXTS["limits"].format(compared=_TEXTS["compared"][recipe.rows.form])
    if not READING_FILES.keys().isdisjoint(names):
        limits = f"{limits} {_TEXTS['evaluation']}"
    shown = [name for name in last.history[0] if name == "mean" or name.endswith((" F1", " first"))]
    data = _TEXTS["data"].format(dev_examples=recipe.dev_examples)
    sections = {
        "Limits": limits,
        "Data": "\n".join((*rows, "", data)),
        "Settings": settings_list(settings),
        "Validation of the last stage on held-out examples": f"{_TEXTS['validation']}\n\n{validation_table(last, shown)}",
    }
    about = [_TEXTS["about"].format(base=base, minutes=minutes)]
    for name, (own, fitted) in heads.items():
        text = _TEXTS["heads"][name]
        about.append(text["about"].format(number=len(own.answer_classes.names) if name == "answer_type" else 0))
        sections[text["heading"]] = f"{text['text']}\n\n{validation_table(fitted)}"
    origin = "sentence-transformers/all-MiniLM-L6-v2" if recipe.base is None else base
    front = {"license": "apache-2.0", "language": "en", "library_name": "transformers", "base_model": origin}
    return model_card("The embedded model", "\n".join(about), sections, front)
