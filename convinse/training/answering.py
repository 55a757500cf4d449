"""Training of extractive answering by distant supervision: gold answers are looked for in the retrieved evidences.

As in CONVINSE (Christmann et al., SIGIR 2022), answers are not marked in evidences: an evidence that names a gold answer
is an example with these places, one that neither names it nor has its item is an example without an answer.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..config import Config
from ..encoder.checkpoint import load_checkpoint, row_form_of
from ..encoder.extractive_reader import ExtractiveReader
from ..heterogeneous_answering.base import HeterogeneousAnswering
from ..heterogeneous_answering.extractive import ExtractiveAnswering
from ..heterogeneous_answering.question import expected_types
from ..records.conversation import Turn, asked_in_full
from ..records.evidence import Entity, Evidence
from ..records.literals import is_date, is_number
from ..records.ranked_rows import RowForm, as_read, spans_as_read
from ..records.written_values import find_literals
from ..scoring.convqa import has_answer, normalize_id
from ..stage import keep_answers
from ..support.errors import DataError
from .answer_ranking import train_ranking
from .conversations import turns_with_evidences
from .objective import Measures, shuffled_batches
from .reader import ReadExample, reader_objective
from .trainer import stage_run, start_of

_BEST = 50  # evidences with and without an answer that a turn's examples are drawn from, the best-ranked ones
_DRAWN = 4  # evidences of a turn with an answer, and as many without, in an epoch at most
_MEASURES = ("p_at_1", "mrr", "h_at_5")


# the evidences of a turn with an answer, and those without, best-ranked first
TurnExamples = tuple[list[ReadExample], list[ReadExample]]


def train_answering(ha: ExtractiveAnswering, sources: Sequence[str]) -> Path:
    """Train the reader on the train part of the configured conversations; returns the model folder, for `ha_model`.

    With `ha_training: {trains: ranking}` the ranking of its answers is learnt, see `answer_ranking.train_ranking`.

    The epoch after which the module itself has the best P@1 plus MRR on the dev part is kept. `config.ha_training` says
    how to train; see `trainer`.
    """
    config, settings = ha.config, ha.config.ha_training
    if settings.trains == "ranking":
        return train_ranking(ha, sources)
    base, key, output = start_of(config, "ha")
    checkpoint = load_checkpoint(base, "question-answering", key, new_head=True, seed=config.seed)
    form = row_form_of(checkpoint)
    turns = (examples(ha, turn, form) for turn in turns_with_evidences(config, "train", sources, ha.resources))
    train = [(right, wrong) for right, wrong in turns if right]
    if not train:
        raise DataError(
            "train ha: no evidence of the train part names a gold answer; is it retrieved from these sources?"
        )
    dev: list[Turn] = [{**turn} for turn in turns_with_evidences(config, "dev", sources, ha.resources)]
    if not dev:
        raise DataError(f"{config.input_path('dev')}: no turns; training needs some to choose the best epoch")
    run = stage_run("train ha", base, output, checkpoint, settings, config, sources)
    run.log_sizes("turns", len(train), len(dev))
    objective = reader_objective(
        run,
        lambda epoch: steps(train, config, epoch),
        ha.build_reader,
        lambda reader: validate(ha, reader, dev, sources),
        lambda measures: measures["p_at_1"] + measures["mrr"],
        max_length=ExtractiveReader.usual.max_length,
        stride=ExtractiveReader.usual.stride,
    )
    return run.write(
        run.fit(objective),
        "A reader that marks the answer of a question in evidences",
        "Input: `[CLS] representation of the question [SEP] evidence [SEP]`; output: start and end of the answer, [CLS] for none.",
        f"""
Benchmark `{config.benchmark}`: {len(train)} turns to train on, those with an evidence that names a gold answer, and {len(dev)} to
validate on. The places where evidences name a gold answer count as right (distant supervision); evidences that neither
name it nor have its item are examples without an answer.""",
        "Answers of the whole module (`ha: extractive`) on the dev part.",
        task="question-answering",
        arguments=["_".join(sources)],
        remark="; name it in ha_model",
    )


def examples(ha: ExtractiveAnswering, turn: Turn, form: RowForm = "plain") -> TurnExamples:
    """Return the evidences of a turn as examples, rows of tables in the model's form.

    Questions for yes or no give no examples, as no text holds their answer.
    """
    ((expected, _),) = expected_types([turn], ha.resources)
    if expected.kind == "yesno":
        return [], []
    right: dict[str, ReadExample] = {}  # by text, which may come twice
    wrong: dict[str, ReadExample] = {}
    for evidence in turn["top_evidences"]:
        spans = spans_as_read(evidence, form, answer_spans(evidence, turn["answers"]))
        example = ReadExample(asked_in_full(turn), as_read(evidence, form), tuple(spans))
        if spans:
            right.setdefault(example.context, example)
        elif not has_answer(evidence, turn["answers"]):  # else it holds the answer under a name that is not known
            wrong.setdefault(example.context, example)
    without = [example for text, example in wrong.items() if text not in right]
    return list(right.values())[:_BEST], without[:_BEST]


def answer_spans(evidence: Evidence, answers: Iterable[Entity]) -> list[tuple[int, int]]:
    """Return the places (end exclusive) at which an evidence names a gold answer.

    An answer is named by its label, by the names under which the evidence mentions its item, and, if it is a date or a
    number, by any way to write that. Names stand on word borders, in any case; a name within a longer one
    ("Tolkien" in "J. R. R. Tolkien") is left out.
    """
    text = evidence["evidence_text"]
    spans: set[tuple[int, int]] = set()
    for answer in answers:
        answer_id = normalize_id(answer["id"])
        if is_date(answer["id"]) or is_number(answer["id"]):
            spans.update((start, end) for start, end, entity in find_literals(text) if entity["id"] == answer["id"])
        names = set() if is_number(answer["label"]) else {answer["label"]}  # no "3" of 3.5, no year of another date
        names.update(name for name, entity_id in evidence["disambiguations"] if normalize_id(entity_id) == answer_id)
        names.update(item["label"] for item in evidence["wikidata_entities"] if normalize_id(item["id"]) == answer_id)
        for name in filter(None, map(str.strip, names)):
            pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
            spans.update(match.span() for match in re.finditer(pattern, text, re.IGNORECASE))
    return sorted(
        (start, end)
        for start, end in spans
        if not any(first <= start and end <= last and (first, last) != (start, end) for first, last in spans)
    )


def steps(train: Sequence[TurnExamples], config: Config, epoch: int) -> list[list[ReadExample]]:
    """Draw the steps of an epoch: of each turn some evidences with an answer and some without."""
    settings, chance = config.ha_training, random.Random(f"{config.seed} {epoch}")
    drawn = []
    for right, wrong in train:
        drawn += chance.sample(right, min(_DRAWN, len(right)))
        drawn += chance.sample(wrong, min(_DRAWN, len(wrong)))
    return shuffled_batches(drawn, settings.batch_size, chance)


def answer_measures(module: HeterogeneousAnswering, turns: Sequence[Turn], sources: Sequence[str]) -> Measures:
    """Measure P@1, MRR and Hit@5 of a module on turns with evidences and gold answers, which are not changed."""
    answered: list[Any] = [turn.copy() for turn in turns]
    for turn, answers in zip(answered, module.inference_on_turns(answered, sources), strict=True):
        keep_answers(module, turn, answers)
    return {measure: sum(turn[measure] for turn in answered) / len(answered) for measure in _MEASURES}


def validate(
    ha: ExtractiveAnswering, reader: ExtractiveReader, dev: Sequence[Turn], sources: Sequence[str]
) -> Measures:
    """Measure P@1, MRR and Hit@5 of the module with another reader; the turns keep their evidences."""
    module = copy.copy(ha)  # a subclass may have another constructor
    module.reader = reader
    return answer_measures(module, dev, sources)
