"""Training of the cross-encoder by distant supervision, as in FAITH and EXPLAIGNN.

Evidences that hold a gold answer count as relevant. Against each stand evidences of the same turn that hold none: half
of them the best-ranked ones (hard), half from anywhere (Christmann et al., SIGIR 2023; Jia et al., WWW 2024).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..evidence_retrieval_scoring.native import NativeERS
from ..records.conversation import asked_in_full
from ..records.evidence import Evidence
from ..scoring.convqa import has_answer
from ..support.errors import DataError
from . import groups
from .conversations import understood_conversations
from .groups import Candidates
from .learning import Learning, Measures
from .output import run_id
from .trainer import Run, start_of

if TYPE_CHECKING:
    from ..encoder.tokens import TextTokenizer

_VALIDATED = 150  # best-ranked candidates of a turn that validation ranks
_VALIDATED_TURNS = 60  # drawn from the dev part, always the same ones
_SHOWN_AT = 5


def train_reranker(ers: NativeERS, sources: Sequence[str]) -> Path:
    """Train a cross-encoder on the train part of the configured conversations; returns the model folder, for `evs_model`.

    The epoch with the best answer presence among the top `evs_max_evidences` plus MRR of the first right evidence, on the
    dev part, is kept. The retrieval of `ers` gives the candidates, `config.evs_training` says how to train; see `trainer`.
    """
    from ..encoder.tokens import TextTokenizer

    config, settings = ers.config, ers.config.evs_training
    start = start_of(config, "evs")
    checkpoint = groups.cross_encoder_to_train(start.base, start.key, config.seed)
    train, dev = (examples(ers, sources, part) for part in ("train", "dev"))
    if not train or not dev:
        raise DataError(f"train ers: no turn of the {'dev' if train else 'train'} part has right and wrong evidences")
    if len(dev) > _VALIDATED_TURNS:
        dev = random.Random(config.seed).sample(dev, _VALIDATED_TURNS)
    identity = run_id(config, checkpoint.model_id, map(config.input_path, ("train", "dev")), list(sources))
    run = Run("train ers", start, checkpoint, settings, identity, config.device, config.seed)
    tokenizer = TextTokenizer.of(checkpoint, config.evs_max_length)
    most, drawn = config.evs_max_evidences, (settings.positives, settings.negatives, settings.batch_turns)
    lexical = ranking_measures([turn.right for turn in dev], most)
    run.log_sizes("turns", len(train), len(dev), lexical)
    learning = Learning(
        steps=lambda epoch: groups.group_steps(train, sides, *drawn, config.seed * 1000 + epoch),
        loss=lambda model, step: groups.group_loss(
            model, tokenizer, [(turn.query, texts) for turn, texts in step], settings.loss
        ),
        validate=lambda model: validate(model, dev, tokenizer, most),
        criterion=lambda measures: measures["answer_presence"] + measures["mrr"],
    )
    return run.write(
        run.fit(learning),
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


def examples(ers: NativeERS, sources: Sequence[str], part: str) -> list[Candidates]:
    """The turns of a part that have right and wrong evidences among their candidates."""
    turns = []
    for conversation in understood_conversations(ers.config, part):
        for turn in conversation["questions"]:
            candidates = ers.retrieve(turn, sources)
            ranked: list[Evidence] = ers.bm25.rank(turn["structured_representation"], candidates, len(candidates))
            right = [has_answer(evidence, turn["answers"]) for evidence in ranked]
            if any(right) and not all(right):
                turns.append(Candidates(asked_in_full(turn), [evidence["evidence_text"] for evidence in ranked], right))
    return turns


def sides(turn: Candidates) -> tuple[list[str], list[str]]:
    """The right texts of a turn and the wrong ones, none of which is right in any way: two sources may have one text."""
    right = [text for text, is_right in zip(turn.texts, turn.right, strict=True) if is_right]
    held = set(right)
    return right, [text for text in turn.texts if text not in held]


def validate(model: Any, dev: Sequence[Candidates], tokenizer: TextTokenizer, most: int) -> Measures:
    """`ranking_measures`, each turn's best candidates by BM25 ranked anew by the model."""
    from .loop import inference

    def scores(query: str, texts: Sequence[str]) -> list[float]:
        odds: list[float] = groups.pair_odds(model, tokenizer, [(query, text) for text in texts]).float().tolist()
        return odds

    cut = [Candidates(query, texts[:_VALIDATED], right[:_VALIDATED]) for query, texts, right in dev]
    with inference(model):
        return ranking_measures(groups.ranked_anew(cut, scores), most)


def ranking_measures(ranked: Sequence[Sequence[bool]], most: int) -> Measures:
    """Answer presence at `most` and at 5, and MRR of the first right evidence, over turns (best evidence first)."""
    firsts = groups.first_right(ranked)
    return {
        "answer_presence": groups.share_within(firsts, most),
        f"answer_presence_at_{_SHOWN_AT}": groups.share_within(firsts, _SHOWN_AT),
        "mrr": groups.mean_reciprocal(firsts),
    }
