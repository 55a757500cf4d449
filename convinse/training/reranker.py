"""Training of the cross-encoder by distant supervision, as in FAITH and EXPLAIGNN.

Evidences that hold a gold answer count as relevant. Against each stand evidences of the same turn that hold none: half
of them the best-ranked ones (hard), half from anywhere (Christmann et al., SIGIR 2023; Jia et al., WWW 2024).
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..config import Config, to_dict
from ..records.evidence import Evidence, asked_in_full
from ..scoring.convqa import has_answer
from ..support.errors import DataError
from ..support.files import sha256
from .conversations import understood_conversations
from .groups import computed, cross_encoder_to_train, draw_groups, first_right, group_loss
from .output import settings_list, start_of, state_of, validation_table, write_trained

if TYPE_CHECKING:
    import torch

    from ..evidence_retrieval_scoring.native import NativeERS
    from .groups import Loss

_VALIDATED = 150  # best-ranked candidates of a turn that validation ranks
_VALIDATED_TURNS = 60  # drawn from the dev part, always the same ones
_SHOWN_AT = 5


class Example(NamedTuple):
    """A turn for training: its query and its evidences' texts, best by BM25 first, and which of them are right."""

    query: str
    texts: list[str]
    right: list[bool]


def train_reranker(ers: NativeERS, sources: Sequence[str]) -> Path:
    """Train a cross-encoder on the train part, keep the epoch that is best on the dev part, write a model folder.

    The measure is answer presence among the top `evs_max_evidences` plus the MRR of the first right evidence. A
    stopped training goes on after its last epoch. An older model at the output is replaced when the new one is written.

    Args:
        ers: the module whose retrieval gives the candidates; its `config.evs_training` says how to train.
        sources: the sources to retrieve from.

    Returns:
        The model folder, for `evs_model`.

    Raises:
        NothingToTrainError: no checkpoint to start from is named.
        DataError: a part is missing, or no turn has right and wrong evidences.
        ModelError: the checkpoint cannot be loaded, or training diverges.
        OutputError: at the output is something else than a model that was trained here.
    """
    config, settings = ers.config, ers.config.evs_training
    base, key, output = start_of(config, "evs", settings, config.evs_model, "ers")
    checkpoint = cross_encoder_to_train(base, key, config.seed)
    from ..encoder.tokens import TextTokenizer
    from .loop import FitSettings, fit

    train, dev = (examples(ers, sources, part) for part in ("train", "dev"))
    if not train or not dev:
        raise DataError(f"train ers: no turn of the {'dev' if train else 'train'} part has right and wrong evidences")
    if len(dev) > _VALIDATED_TURNS:
        dev = random.Random(config.seed).sample(dev, _VALIDATED_TURNS)
    tokenizer = TextTokenizer.of(checkpoint, config.evs_max_length)
    ers.logger.info("train ers: %d turns to train on, %d to validate on", len(train), len(dev))
    lexical = ranking_measures([example.right for example in dev], config.evs_max_evidences)
    shown = ", ".join(f"{name} {value:.4f}" for name, value in lexical.items())
    ers.logger.info("train ers: BM25 alone: %s", shown)
    start = time.perf_counter()
    fitted = fit(
        checkpoint.model,
        lambda epoch: _steps(train, config, epoch),
        lambda model, step: _loss(model, step, tokenizer, settings.loss),
        lambda model: validate(model, dev, tokenizer, config),
        lambda measures: measures["answer_presence"] + measures["mrr"],
        FitSettings.of(settings, config.device, config.seed),
        state_of(output),
        _run_id(config, sources, checkpoint.model_id),
        title="train ers",
        quiet=not ers.logger.isEnabledFor(logging.INFO),
        keep_untrained=not checkpoint.missing,
    )
    card = _card(config, sources, base, lexical, fitted, len(train), len(dev), time.perf_counter() - start)
    write_trained(checkpoint, output, card, fitted)
    ers.logger.info("train ers: epoch %d is in %s; name it in evs_model", fitted.best, output)
    return output


def examples(ers: NativeERS, sources: Sequence[str], part: str) -> list[Example]:
    """The turns of a part that have right and wrong evidences among their candidates."""
    found = []
    for conversation in understood_conversations(ers.config, part):
        for turn in conversation["questions"]:
            candidates = ers.retrieve(turn, sources)
            ranked: list[Evidence] = ers.bm25.rank(turn["structured_representation"], candidates, len(candidates))
            right = [has_answer(evidence, turn["answers"]) for evidence in ranked]
            if any(right) and not all(right):
                found.append(Example(asked_in_full(turn), [evidence["evidence_text"] for evidence in ranked], right))
    return found


def groups(example: Example, positives: int, negatives: int, chance: random.Random) -> list[list[str]]:
    """Texts to train on: in each group a right one first, then wrong ones, none of them right in any way."""
    right = [text for text, is_right in zip(example.texts, example.right, strict=True) if is_right]
    held = set(right)  # the same text may come from two sources
    wrong = [
        text for text, is_right in zip(example.texts, example.right, strict=True) if not is_right and text not in held
    ]
    return draw_groups(right, wrong, positives, negatives, chance)


def _steps(train: Sequence[Example], config: Config, epoch: int) -> list[list[tuple[str, list[str]]]]:
    settings = config.evs_training
    chance = random.Random(config.seed * 1000 + epoch)
    all_groups = [
        (example.query, group)
        for example in train
        for group in groups(example, settings.positives, settings.negatives, chance)
    ]
    chance.shuffle(all_groups)
    size = settings.batch_turns
    return [all_groups[start : start + size] for start in range(0, len(all_groups), size)]


def _loss(model: Any, step: list[tuple[str, list[str]]], tokenizer: Any, loss: Loss) -> torch.Tensor:
    pairs = [(query, text) for query, group in step for text in group]
    return group_loss(_odds(model, tokenizer.pairs(pairs)), [len(group) for _, group in step], loss)


def _odds(model: Any, sequences: Any) -> torch.Tensor:
    from ..encoder.reranker import log_odds

    return computed(model, sequences, log_odds)


def validate(model: Any, dev: Sequence[Example], tokenizer: Any, config: Config) -> dict[str, float]:
    """The measures of `ranking_measures`, each turn's best candidates by BM25 ranked anew by the model."""
    import torch

    from .loop import autocast

    ranked = []
    with torch.inference_mode(), autocast(model.device):
        for example in dev:
            texts, right = example.texts[:_VALIDATED], example.right[:_VALIDATED]
            odds = _odds(model, tokenizer.pairs([(example.query, text) for text in texts])).float().tolist()
            order = sorted(range(len(texts)), key=lambda place: (-odds[place], texts[place]))
            ranked.append([right[place] for place in order])
    return ranking_measures(ranked, config.evs_max_evidences)


def ranking_measures(ranked: Sequence[Sequence[bool]], most: int) -> dict[str, float]:
    """Answer presence at `most` and at 5, and MRR of the first right evidence, over turns (best evidence first)."""
    firsts = first_right(ranked)

    def presence(at: int) -> float:
        return sum(first is not None and first <= at for first in firsts) / len(firsts)

    return {
        "answer_presence": presence(most),
        f"answer_presence_at_{_SHOWN_AT}": presence(_SHOWN_AT),
        "mrr": sum(1 / first for first in firsts if first is not None) / len(firsts),
    }


def _run_id(config: Config, sources: Sequence[str], model_id: str) -> str:
    import hashlib

    settings = {key: value for key, value in to_dict(config).items() if key not in ("name", "output_path", "device")}
    parts = [settings, list(sources), model_id, *(sha256(config.input_path(part)) for part in ("train", "dev"))]
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:32]


def _card(
    config: Config,
    sources: Sequence[str],
    base: str,
    lexical: dict[str, float],
    fitted: Any,
    train: int,
    dev: int,
    seconds: float,
) -> str:
    return f"""---
library_name: transformers
pipeline_tag: text-ranking
---
# A cross-encoder that scores evidences for a question

Input: `[CLS] representation of the question [SEP] evidence [SEP]`; output: relevance (log odds).
Trained by `convinse train ers {"_".join(sources)}` from `{base}` in {seconds:.0f} s, seed {config.seed}.

## Data
Benchmark `{config.benchmark}`: {train} turns to train on and {dev} to validate on, those that have evidences with and
without a gold answer. Evidences with one count as relevant (distant supervision).

## Settings
{settings_list(to_dict(config)["evs_training"])}

## Validation
Of each turn the {_VALIDATED} best candidates by BM25 were ranked anew; `answer_presence` is at {config.evs_max_evidences}.

{validation_table(fitted, others={"BM25 alone": lexical})}
"""
