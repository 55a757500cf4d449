"""Training of the cross-encoder by distant supervision, as in FAITH and EXPLAIGNN.

Evidences that hold a gold answer count as relevant. Against each stand evidences of the same turn that hold none: half
of them the best-ranked ones (hard), half from anywhere (Christmann et al., SIGIR 2023; Jia et al., WWW 2024).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..encoder.checkpoint import row_form_of
from ..encoder.reranker import BertReranker
from ..evidence_retrieval_scoring.native import NativeERS
from ..records.conversation import asked_in_full
from ..records.evidence import Evidence
from ..records.ranked_rows import RowForm, as_read
from ..scoring.convqa import has_answer
from ..support.errors import DataError
from .conversations import understood_conversations
from .objective import Measures, Objective
from .rankers import CrossEncoderLearner, Group, RankedTexts, group_steps, rank_measures, ranked_anew
from .trainer import stage_run, start_of

_VALIDATED = 150  # best-ranked candidates of a turn that validation ranks
_VALIDATED_TURNS = 60  # drawn from the dev part, always the same ones
_SHOWN_AT = 5  # evidences that a person would look at
_GROUPS = 4  # of a step: a positive and its negatives, 48 texts by default
_POSITIVES = 4  # of a turn in an epoch at most, so that a turn with many right evidences does not outweigh the others


def train_reranker(ers: NativeERS, sources: Sequence[str]) -> Path:
    """Train a cross-encoder on the train part of the configured conversations; returns the model folder, for `evs_model`.

    The best epoch has the highest answer presence among the top `evs_max_evidences` plus MRR of the first right evidence,
    on the dev part. The retrieval of `ers` gives the candidates; settings are in `config.evs_training`. See `trainer`.
    """
    config, settings = ers.config, ers.config.evs_training
    base, key, output = start_of(config, "evs")
    learner = CrossEncoderLearner(base, key, BertReranker.usual.max_length, config.seed)
    form = row_form_of(learner.checkpoint)
    train, dev = (examples(ers, sources, part, form) for part in ("train", "dev"))
    if not train or not dev:
        raise DataError(f"train ers: no turn of the {'dev' if train else 'train'} part has right and wrong evidences")
    if len(dev) > _VALIDATED_TURNS:
        dev = random.Random(config.seed).sample(dev, _VALIDATED_TURNS)
    run = stage_run("train ers", base, output, learner.checkpoint, settings, config, sources)
    most = config.evs_max_evidences
    lexical = measures([turn.right for turn in dev], most)
    run.log_sizes("turns", len(train), len(dev), lexical)
    sides = [(turn, *turn.sides()) for turn in train]
    objective: Objective[list[tuple[RankedTexts, list[str]]]] = Objective(
        steps=lambda epoch: group_steps(sides, _POSITIVES, settings.negatives, _GROUPS, config.seed, epoch),
        loss=lambda model, step: learner.loss(model, [Group(turn.query, texts) for turn, texts in step]),
        validate=lambda model: validate(model, learner, dev, most),
        criterion=lambda epoch: epoch["answer_presence"] + epoch["mrr"],
    )
    return run.write(
        run.fit(objective),
        "A cross-encoder that scores evidences for a question",
        "Input: `[CLS] representation of the question [SEP] evidence [SEP]`; output: relevance (log odds).",
        f"""
Benchmark `{config.benchmark}`: {len(train)} turns to train on and {len(dev)} to validate on, those that have evidences with and
without a gold answer. Evidences with one count as relevant (distant supervision).""",
        f"Of each turn the {_VALIDATED} best candidates by BM25 were ranked anew; `answer_presence` is at {most}.",
        task="text-ranking",
        arguments=["_".join(sources)],
        rows={"BM25 alone": lexical},
        remark="; name it in evs_model",
    )


def examples(ers: NativeERS, sources: Sequence[str], part: str, form: RowForm = "plain") -> list[RankedTexts]:
    """Return the turns of a part that have right and wrong evidences among their candidates, rows of tables in a form."""
    turns = []
    for conversation in understood_conversations(ers.config, part, ers.resources):
        for turn in conversation["questions"]:
            candidates = ers.retrieve(turn, sources)
            ranked: list[Evidence] = ers.bm25.rank(turn["structured_representation"], candidates, len(candidates))
            right = [has_answer(evidence, turn["answers"]) for evidence in ranked]
            if any(right) and not all(right):
                texts = [as_read(evidence, form) for evidence in ranked]
                turns.append(RankedTexts(asked_in_full(turn), texts, right))
    return turns


def validate(model: Any, learner: CrossEncoderLearner, dev: Sequence[RankedTexts], most: int) -> Measures:
    """Return the `measures` of turns whose best candidates by BM25 the model ranks anew."""
    cut = [RankedTexts(query, texts[:_VALIDATED], right[:_VALIDATED]) for query, texts, right in dev]
    return measures(ranked_anew(model, cut, learner.scores), most)


def measures(ranked: Sequence[Sequence[bool]], most: int) -> Measures:
    """Measure answer presence at `most` and at 5, and MRR of the first right evidence (rankings best first)."""
    return rank_measures(ranked, {"answer_presence": most, f"answer_presence_at_{_SHOWN_AT}": _SHOWN_AT, "mrr": None})
