"""Training of extractive answering by distant supervision: gold answers are looked for in the retrieved evidences.

As in CONVINSE (Christmann et al., SIGIR 2022) nobody marks answers in evidences: an evidence that names a gold answer
is an example with these places, one that neither names it nor has its item is an example without an answer.
"""

from __future__ import annotations

import copy
import hashlib
import logging
import random
import re
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..config import Config, to_dict
from ..encoder.checkpoint import load_checkpoint
from ..encoder.extractive_reader import ExtractiveReader
from ..records.evidence import Entity, Evidence, Turn, asked_in_full
from ..records.literals import find_literals, is_date, is_number
from ..resources import model_path
from ..scoring.convqa import has_answer, normalize_id
from ..support.errors import DataError
from ..support.files import sha256
from .conversations import turns_with_evidences
from .output import settings_list, start_of, validation_table, write_trained
from .reader import ReaderSettings, ReadExample, train_reader

if TYPE_CHECKING:
    from ..heterogeneous_answering.extractive import ExtractiveAnswering

_BEST = 50  # evidences with and without an answer that a turn's examples are drawn from, the best-ranked ones
_MEASURES = ("p_at_1", "mrr", "h_at_5")


class TurnExamples(NamedTuple):
    """What a turn gives to learn from: evidences with an answer and without, best-ranked first."""

    right: list[ReadExample]
    wrong: list[ReadExample]


def train_answering(ha: ExtractiveAnswering, sources: Sequence[str]) -> Path:
    """Train the reader on the train part, keep the epoch that answers best on the dev part, write a model folder.

    The measure is P@1 plus MRR of the module itself. A stopped training goes on after its last epoch. An older model
    at the output is replaced when the new one is written.

    Args:
        ha: the module; its `config.ha_training` says how to train.
        sources: the sources to retrieve from.

    Returns:
        The model folder, for `ha_model`.

    Raises:
        ConfigError: no checkpoint to start from is named.
        DataError: a part is missing, or no evidence of the train part has an answer.
        ModelError: the checkpoint cannot be loaded, or training diverges.
        OutputError: at the output is something else than a model that was trained here.
    """
    config, settings = ha.config, ha.config.ha_training
    base, key, output = start_of(config, "ha", settings, config.ha_model, "ha")
    checkpoint = load_checkpoint(model_path(base), "question-answering", key, new_head=True, seed=config.seed)
    from .loop import FitSettings

    train = [found for turn in turns_with_evidences(config, "train", sources) if (found := examples(ha, turn)).right]
    if not train:
        raise DataError(
            "train ha: no evidence of the train part names a gold answer; is it retrieved from these sources?"
        )
    dev = [{**turn} for turn in turns_with_evidences(config, "dev", sources)]
    if not dev:
        raise DataError(f"{config.input_path('dev')}: no turns; training needs some to choose the best epoch")
    ha.logger.info("train ha: %d turns to train on, %d to validate on", len(train), len(dev))
    start = time.perf_counter()
    fitted = train_reader(
        checkpoint,
        lambda epoch: steps(train, config, epoch),
        lambda reader: validate(ha, reader, dev, sources),  # type: ignore[arg-type]
        lambda measures: measures["p_at_1"] + measures["mrr"],
        ReaderSettings(
            FitSettings.of(settings, config.device, config.seed),
            config.ha_max_length,
            config.ha_stride,
            settings.negative_windows,
        ),
        output,
        _run_id(config, sources, checkpoint.model_id),
        reader=ha.build_reader,
        title="train ha",
        quiet=not ha.logger.isEnabledFor(logging.INFO),
    )
    card = _card(config, sources, base, fitted, len(train), len(dev), time.perf_counter() - start)
    write_trained(checkpoint, output, card, fitted)
    ha.logger.info("train ha: epoch %d is in %s; name it in ha_model", fitted.best, output)
    return output


def examples(ha: ExtractiveAnswering, turn: Turn) -> TurnExamples:
    """The evidences of a turn as examples; questions for yes or no give none, as no text holds their answer."""
    right: dict[str, ReadExample] = {}
    wrong: dict[str, ReadExample] = {}
    if ha.expected(turn).kind == "yesno":
        return TurnExamples([], [])
    question = asked_in_full(turn)
    for evidence in turn["top_evidences"]:
        text = evidence["evidence_text"]
        spans = answer_spans(evidence, turn["answers"])
        if spans:
            right.setdefault(text, ReadExample(question, text, tuple(spans)))
        elif not has_answer(evidence, turn["answers"]):  # else it holds the answer under a name that is not known
            wrong.setdefault(text, ReadExample(question, text))
    without = [example for text, example in wrong.items() if text not in right]  # the same text may come twice
    return TurnExamples(list(right.values())[:_BEST], without[:_BEST])


def answer_spans(evidence: Evidence, answers: Iterable[Entity]) -> list[tuple[int, int]]:
    """The places (end exclusive) at which an evidence names a gold answer.

    By the answer's label, by the names under which the evidence mentions its item, and, where it is a date or a
    number, however that is written out. Names stand on word borders, in any case; a name inside of a longer one
    that stands there too ("Tolkien" in "J. R. R. Tolkien") is left out.
    """
    text = evidence["evidence_text"]
    found: set[tuple[int, int]] = set()
    for answer in answers:
        wanted = normalize_id(answer["id"])
        if is_date(answer["id"]) or is_number(answer["id"]):
            found.update((start, end) for start, end, entity in find_literals(text) if entity["id"] == answer["id"])
        names = set() if is_number(answer["label"]) else {answer["label"]}  # no "3" of 3.5, no year of another date
        names.update(surface for surface, entity_id in evidence["disambiguations"] if normalize_id(entity_id) == wanted)
        names.update(
            entity["label"] for entity in evidence["wikidata_entities"] if normalize_id(entity["id"]) == wanted
        )
        for name in names:
            if name.strip():
                found.update(match.span() for match in _pattern(name.strip()).finditer(text))
    return sorted(
        (start, end)
        for start, end in found
        if not any(first <= start and end <= last and (first, last) != (start, end) for first, last in found)
    )


@lru_cache(maxsize=10_000)
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def steps(train: Sequence[TurnExamples], config: Config, epoch: int) -> list[list[ReadExample]]:
    """The steps of an epoch: of each turn some evidences with an answer and some without."""
    settings = config.ha_training
    chance = random.Random(f"{config.seed} {epoch}")
    drawn = []
    for right, wrong in train:
        drawn += chance.sample(right, min(settings.positives, len(right)))
        drawn += chance.sample(wrong, min(settings.negatives, len(wrong)))
    chance.shuffle(drawn)
    size = settings.batch_size
    return [drawn[start : start + size] for start in range(0, len(drawn), size)]


def validate(
    ha: ExtractiveAnswering, reader: ExtractiveReader, dev: Sequence[Turn], sources: Sequence[str]
) -> dict[str, float]:
    """P@1, MRR and Hit@5 of the module with another reader; the turns have their evidences and are not changed."""
    module = copy.copy(ha)
    module.reader = reader
    turns: list[Any] = [{**turn} for turn in dev]
    module.inference_on_turns(turns, sources)
    return {measure: sum(turn[measure] for turn in turns) / len(turns) for measure in _MEASURES}


def _run_id(config: Config, sources: Sequence[str], model_id: str) -> str:
    settings = {key: value for key, value in to_dict(config).items() if key not in ("name", "output_path", "device")}
    parts = [settings, list(sources), model_id, *(sha256(config.input_path(part)) for part in ("train", "dev"))]
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:32]


def _card(config: Config, sources: Sequence[str], base: str, fitted: Any, train: int, dev: int, seconds: float) -> str:
    return f"""---
library_name: transformers
pipeline_tag: question-answering
---
# A reader that marks the answer of a question in evidences

Input: `[CLS] representation of the question [SEP] evidence [SEP]`; output: start and end of the answer, [CLS] for none.
Trained by `convinse train ha {"_".join(sources)}` from `{base}` in {seconds:.0f} s, seed {config.seed}.

## Data
Benchmark `{config.benchmark}`: {train} turns to train on, those with an evidence that names a gold answer, and {dev} to
validate on. The places where evidences name a gold answer count as right (distant supervision); evidences that neither
name it nor have its item are examples without an answer.

## Settings
{settings_list(to_dict(config)["ha_training"])}

## Validation
Answers of the whole module (`ha: extractive`) on the dev part.

{validation_table(fitted)}
"""
