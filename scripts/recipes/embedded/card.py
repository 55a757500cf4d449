"""The model card that `train embedded` writes beside the weights; its text is in `card.yml`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from convinse.training.objective import FitResult
from convinse.training.trainer import model_card, settings_list, validation_table
from recipes.embedded.data_sets import DATA_SETS, READING_FILES, YES_NO_SETS, DataSet
from recipes.embedded.recipe import Recipe

_TEXTS: dict[str, Any] = msgspec.yaml.decode(Path(__file__).with_suffix(".yml").read_bytes())


def embedded_card(
    recipe: Recipe,
    sizes: Mapping[str, int],
    result: FitResult,
    base: str,
    minutes: float,
    heads: Mapping[str, tuple[Any, FitResult]],
) -> str:
    """The card of a trained model.

    Args: sizes: the examples of each data set; base: the model that it began as; heads: each with its training.
    """
    rows = ["| set | licence | examples to train on | drawn |", "|---|---|---:|---:|"]
    for name in sorted(recipe.mixture):
        size = sizes.get(name, 0)
        listed = DATA_SETS.get(name) or DataSet(content=recipe.files[name], licence="your own")
        content = f"{listed.content}; from {listed.origin}" if listed.origin else listed.content
        rows.append(f"| {content} | {listed.licence} | {size:,} | {min(recipe.mixture[name], size):,} |")
    settings = {key: value for key, value in msgspec.to_builtins(recipe).items() if key not in ("mixture", "base")}
    limits = _TEXTS["limits"]
    if not READING_FILES.keys().isdisjoint(recipe.mixture):
        limits = f"{limits} {_TEXTS['evaluation']}"
    shown = [name for name in result.history[0] if name == "mean" or name.endswith((" F1", " first"))]
    sections = {
        "Limits": limits,
        "Data": "\n".join((*rows, "", _TEXTS["data"].format(dev_examples=recipe.dev_examples))),
        "Settings": settings_list(settings),
        "Validation on held-out examples": f"{_TEXTS['validation']}\n\n{validation_table(result, shown)}",
    }
    about = [_TEXTS["about"].format(base=base, minutes=minutes)]
    for name, (head, fitted) in heads.items():
        text = _TEXTS["heads"][name]
        about.append(text["about"].format(number=len(head.answer_classes.names) if name == "answer_type" else 0))
        sets = "; ".join(f"{declared.content} ({declared.licence})" for declared in YES_NO_SETS.values())
        sections[text["heading"]] = f"{text['text'].replace('{sets}', sets)}\n\n{validation_table(fitted)}"
    origin = "sentence-transformers/all-MiniLM-L6-v2" if recipe.base is None else base
    front = {"license": "apache-2.0", "language": "en", "library_name": "transformers", "base_model": origin}
    return model_card("The embedded model", "\n".join(about), sections, front)
