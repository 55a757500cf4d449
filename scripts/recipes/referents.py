"""Learn what follow-ups are about, from conversations whose questions name what they are about (`entities`).

    python -m recipes.referents --kb FOLDER --dump FILE

Learned from are the embedded conversations (train, dev, natural-dev) and ConvMix's development part over wikidata-27k; the
history of each question is right. Five folds by conversation tell what each feature brings (`docs/figures/referents.json`).
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from convinse.config import SNAPSHOT, Config, load_config, resolve
from convinse.experiment import read_part
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.question_understanding.referents import (
    FILE,
    FORMAT,
    FeatureReader,
    NoneFeatures,
    ReferentFeatures,
    ReferentWeights,
    spoken_of,
)
from convinse.question_understanding.rewriting import earlier_turn, named_items, names_in, pointed
from convinse.records.conversation import Conversation, Turn
from convinse.records.rewriting import history_text
from convinse.resources import Resources
from convinse.support import manifest
from convinse.support.files import replacing
from convinse.support.weights import FeatureWeight, model_bytes
from recipes.embedded.rewrites import is_held_out
from recipes.figures import write_table
from recipes.sources import needed, shared_data

_COMMAND = "PYTHONPATH=scripts .venv/bin/python -m recipes.referents --kb KB --dump DUMP"
_FOLDS = 5
_L2 = 1.0
_UNSEEN = "convmix, unseen by the head"
_WEIGHTS = {
    "train": 1.0,
    "dev": 1.0,
    "natural-dev": 1.0,
    "convmix": 0.4,
    _UNSEEN: 0.4,
}  # of a question; ConvMix comes twice


class Choice(NamedTuple):
    """The features of the things that a question may be about, those of none, and which of them it is about."""

    group: str
    features: np.ndarray
    nothing: np.ndarray
    right: np.ndarray


def choices(config: Config, conversations: Sequence[Conversation]) -> Iterator[Choice]:
    """The choices of the follow-ups of conversations."""
    with Resources(config) as resources:
        rewriter, reader = resources.rewriter(), FeatureReader(resources.kb, resources.language)
        assert rewriter is not None
        for conversation in conversations:
            history: list[Turn] = []
            for turn in conversation["questions"]:
                entities = turn.get("entities", [])
                spoken = spoken_of(history)
                text = history_text(list(map(earlier_turn, history)))
                pointers = rewriter.pointers([turn["question"]], [text])[0]
                if spoken and pointers is not None:
                    shares = pointed(spoken, list(names_in(text, history)), pointers)
                    named = named_items(resources.linker.link(turn["question"], classes=True))
                    features = reader.read(turn["question"], spoken, len(history), shares, named)
                    ids = {entity["id"] for entity in entities}
                    yield Choice(
                        str(conversation.get("group", conversation["conv_id"])),
                        np.array(features, np.float64),
                        np.array(reader.read_nothing(turn["question"], named), np.float64),
                        np.array([thing.entity["id"] in ids for thing in spoken]),
                    )
                history.append(_in_full(turn))


def _in_full(turn: Turn) -> Turn:
    entities = turn.get("entities", [])
    about = (
        "" if not entities or entities[0]["label"].casefold() in turn["question"].casefold() else entities[0]["label"]
    )
    return {
        "question": turn["question"],
        "resolved_question": turn.get("completed") or f"{turn['question']} ({about})".removesuffix(" ()"),
        "answers": turn.get("answers", []),
        "representation": {"context": [], "entities": entities, "predicate": "", "answer_type": ""},
    }


def fit(weighted: Sequence[tuple[float, Choice]], without: int | None = None) -> np.ndarray:
    """The weights of the features, of those of none, and the bias."""
    features, nothing = len(ReferentFeatures._fields), len(NoneFeatures._fields)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        total, gradient = _L2 / 2 * float(weights @ weights), _L2 * weights
        for weight, choice in weighted:
            chances = _chances(weights, choice)
            right = np.append(choice.right, not choice.right.any())
            share = max(float(chances[right].sum()), 1e-12)
            total -= weight * np.log(share)
            excess = weight * (chances - np.where(right, chances / share, 0))
            gradient[:features] += excess[:-1] @ choice.features
            gradient[features:-1] += excess[-1] * choice.nothing
            gradient[-1] += excess[-1]
        if without is not None:
            gradient[without] = 0
        return total, gradient

    fitted: np.ndarray = minimize(loss, np.zeros(features + nothing + 1), jac=True, method="L-BFGS-B").x
    return fitted


def _chances(weights: np.ndarray, choice: Choice) -> np.ndarray:
    features = choice.features.shape[1]
    odds = np.append(choice.features @ weights[:features], choice.nothing @ weights[features:-1] + weights[-1])
    shares = np.exp(odds - odds.max())
    chances: np.ndarray = shares / shares.sum()
    return chances


def is_right(weights: np.ndarray, choice: Choice) -> bool:
    """Return True if the likeliest thing is one that the question is about, or if it is none and there is none."""
    best = int(_chances(weights, choice).argmax())
    return bool(choice.right[best]) if best < len(choice.right) else not choice.right.any()


def by_folds(sets: dict[str, list[Choice]], without: int | None = None) -> dict[str, float]:
    """The share of the choices of each set that are right, learned from the conversations of the other folds."""
    fold_of = {own.group: zlib.crc32(own.group.encode()) % _FOLDS for part in sets.values() for own in part}
    right: dict[str, list[bool]] = {name: [] for name in sets}
    for fold in range(_FOLDS):
        learned = [(_WEIGHTS[name], own) for name, part in sets.items() for own in part if fold_of[own.group] != fold]
        weights = fit(learned, without)
        for name, part in sets.items():
            right[name] += [is_right(weights, own) for own in part if fold_of[own.group] == fold]
    return {name: float(np.mean(own)) for name, own in right.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", required=True, metavar="DIR", help="the knowledge base of wikidata-27k")
    parser.add_argument("--dump", required=True, metavar="FILE", help="a dump of pages of its items")
    options = parser.parse_args()
    embedded = load_config("config.yml")
    real = load_config("wikidata-27k.yml", kb_path=options.kb, ers_wikipedia_dump=options.dump)
    convmix = read_benchmark(needed(shared_data(), "convmix", "dev_wd27k.json.gz"), "convmix", "dev")
    sets = {part: list(choices(embedded, read_part(embedded, part))) for part in ("train", "dev", "natural-dev")}
    of_convmix = list(choices(real, convmix))
    sets["convmix"] = [own for own in of_convmix if not is_held_out(f"convmix {own.group}")]
    sets[_UNSEEN] = [own for own in of_convmix if is_held_out(f"convmix {own.group}")]
    rows = {"all of them": by_folds(sets)}
    names = (*ReferentFeatures._fields, *(f"nothing {name}" for name in NoneFeatures._fields))
    rows |= {f"without {name}": by_folds(sets, place) for place, name in enumerate(names)}
    cells = [[name, *(f"{share:.3f}" for share in row.values())] for name, row in rows.items()]
    counts = [f"{part} ({len(own)})" for part, own in sets.items()]
    title = "follow-ups whose topic is right, by five folds of conversations"
    write_table("referents", _COMMAND, ["features", *counts], cells, title=title)
    weights = fit([(_WEIGHTS[name], own) for name, part in sets.items() for own in part])
    names = (*ReferentFeatures._fields, *NoneFeatures._fields)
    named = [FeatureWeight(name, 0.0, 1.0, round(float(own), 4)) for name, own in zip(names, weights[:-1], strict=True)]
    features = len(ReferentFeatures._fields)
    model = ReferentWeights(
        format=FORMAT, features=named[:features], nothing=named[features:], bias=round(float(weights[-1]), 4),
        trained_on=sum(map(len, sets.values())),
    )  # fmt: skip
    folder = Path(resolve(SNAPSHOT + "model"))
    with replacing(folder / FILE) as temporary:
        temporary.write_bytes(model_bytes(model))
    manifest.seal(folder, "model")
    return 0


if __name__ == "__main__":
    sys.exit(main())
