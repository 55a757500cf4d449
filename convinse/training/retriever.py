"""`train retriever`: a cross-encoder or a bi-encoder learns from judged passages and from what BM25 takes for relevant.

The cross-encoder learns to put a relevant passage before passages of the same question that BM25 ranks high, half of them
among its best 50. The bi-encoder has the passages of the other questions in its batch as negatives besides.
"""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..passages.index import PassageIndex
from ..passages.search import passage_text
from ..support.errors import DataError
from ..support.files import remove, replacing, sha256
from .groups import Loss, draw_groups, first_right
from .output import check_output, settings_list, state_of, validation_table, write_trained
from .passage_pairs import Example, hold_out, read_examples
from .retriever_learners import BiEncoderLearner, CrossEncoderLearner, Texts

if TYPE_CHECKING:
    import torch

    from .loop import FitResult

LOGGER = logging.getLogger(__name__)
_AT = 10  # ranks that the measures look at
_DIGITS = 5  # of scores that count
_BASE, _OUTPUT = "--base", "--output"  # what the command calls them, for messages


@dataclass(frozen=True)
class RetrieverTraining:
    """How `train retriever` trains.

    Attributes:
        base: the checkpoint to start from, a folder or a hub name.
        output: the model folder to write.
        bi_encoder: train a bi-encoder instead of a cross-encoder.
        candidates: best passages by BM25 of a question: negatives come from them, and validation ranks them.
        held_out: share of the questions that validate.
        loss: of the cross-encoder: `listwise` or `pairwise`.
        epochs, minutes, patience, learning_rate, warmup, weight_decay: see `encoder.fit.FitSettings`.
        batch_questions: groups (a relevant passage and its negatives) of a step.
        positives: groups of a question in an epoch at most.
        negatives: of a group at most.
        max_length: most tokens of a question with a passage (cross-encoder), or of either.
        device: `auto`, `cpu`, `cuda`, `cuda:1`.
        seed: of all choices.
    """

    base: str
    output: Path
    bi_encoder: bool = False
    candidates: int = 100
    held_out: float = 0.1
    loss: Loss = "listwise"
    epochs: int = 3
    minutes: float | None = None
    patience: int = 2
    batch_questions: int = 8
    positives: int = 2
    negatives: int = 7
    learning_rate: float = 3e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    max_length: int = 256
    device: str = "auto"
    seed: int = 42


@dataclass(frozen=True)
class TrainedRetriever:
    """What a training gave.

    Attributes:
        folder: the model.
        fitted: the measures of all epochs.
        lexical: the measures of BM25 alone on the questions that validate.
        train, dev: how many questions were learned from, and validated.
    """

    folder: Path
    fitted: FitResult
    lexical: dict[str, float]
    train: int
    dev: int


class Ranked(NamedTuple):
    """A question that validates: its candidates, best by BM25 first, and which of them are relevant."""

    query: str
    texts: list[str]
    right: list[bool]


def train_retriever(
    pairs: Path, questions: Path, index: Path, settings: RetrieverTraining, quiet: bool = False
) -> TrainedRetriever:
    """Train on judged passages, keep the epoch with the best MRR@10 over the mined candidates, write a model folder.

    A stopped training goes on after its last epoch. An older model at the output is replaced when the new one is written.

    Args:
        pairs: `pairs.tsv`, see `passages.pairs.read_pairs`.
        questions: `questions.jl`, see `passages.questions.read_questions`.
        index: the folder of the index that has the passages.
        settings: see there.
        quiet: no progress.

    Raises:
        DataError: a file is wrong (file and line named), or there is nothing to learn from or to validate with.
        IndexFileError: the index cannot be opened.
        ModelError: the checkpoint cannot be loaded, or training diverges.
        OutputError: at the output is something else than a model that was trained here.
    """
    check_output(settings.output, _OUTPUT)
    opened = PassageIndex(index)
    learner = BiEncoderLearner if settings.bi_encoder else CrossEncoderLearner  # first: mining may take minutes
    model = learner(settings.base, _BASE, settings.max_length, settings.loss, settings.seed)
    checkpoint = model.checkpoint
    examples = read_examples(pairs, questions, opened, settings.candidates, quiet)
    try:
        train, dev = hold_out(examples, settings.held_out, settings.seed)
    except DataError as error:
        raise DataError(f"{pairs}: {error}") from None
    if not any(example.wrong for example in train):
        raise DataError(f"{pairs}: no question has a negative: BM25 finds nothing in {index} but relevant passages")
    texts = _texts_of(opened)
    ranked = [_ranked(example, texts) for example in dev]
    from .loop import FitSettings, fit

    lexical = measures([one.right for one in ranked])
    LOGGER.info("train retriever: %d questions to train on, %d to validate with", len(train), len(dev))
    LOGGER.info("train retriever: BM25 alone: %s", ", ".join(f"{name} {value:.4f}" for name, value in lexical.items()))
    start = time.perf_counter()
    fitted = fit(
        checkpoint.model,
        lambda epoch: steps(train, settings, epoch),
        lambda trained, step: model.loss(trained, step, texts),
        lambda trained: validate(trained, ranked, model.scores),
        lambda found: found["mrr_at_10"],
        FitSettings(
            settings.epochs, settings.learning_rate, settings.warmup, settings.weight_decay, settings.minutes,
            settings.patience, settings.device, settings.seed,
        ),
        state_of(settings.output),
        _run_id(settings, checkpoint.model_id, opened.build_id, pairs, questions),
        title="train retriever",
        quiet=quiet,
        keep_untrained=not checkpoint.missing,
    )  # fmt: skip
    result = TrainedRetriever(settings.output, fitted, lexical, len(train), len(dev))
    record = {"bm25": lexical, "questions": {"train": len(train), "dev": len(dev)}}
    card = _card(settings, result, opened, pairs, time.perf_counter() - start)
    with replacing(settings.output) as temporary:
        write_trained(checkpoint, temporary, card, fitted, record)
        model.write_more(temporary)
    remove(state_of(settings.output))
    return result


def _texts_of(index: PassageIndex) -> Texts:
    """Passages by their numbers, as search shows them to a reranker."""

    def texts(numbers: Sequence[int]) -> list[str]:
        return [passage_text(passage.title, passage.text) for passage in index.passages(numbers)]

    return texts


def _ranked(example: Example, texts: Texts) -> Ranked:
    right = set(example.right)
    return Ranked(example.query, texts(example.ranked), [number in right for number in example.ranked])


def steps(train: Sequence[Example], settings: RetrieverTraining, epoch: int) -> list[list[tuple[Example, list[int]]]]:
    """The groups of an epoch, always the same for its number; in a group a relevant passage comes first."""
    chance = random.Random(settings.seed * 1000 + epoch)
    groups = [
        (example, group)
        for example in train
        for group in draw_groups(example.right, example.wrong, settings.positives, settings.negatives, chance)
    ]
    chance.shuffle(groups)
    size = settings.batch_questions
    return [groups[start : start + size] for start in range(0, len(groups), size)]


def validate(
    model: Any, dev: Sequence[Ranked], scores: Callable[[Any, str, list[str]], torch.Tensor]
) -> dict[str, float]:
    """`measures` of the candidates as the model ranks them; equal scores stand in the order of the texts, as in search."""
    import torch

    from .loop import autocast

    ranked = []
    with torch.inference_mode(), autocast(model.device):
        for one in dev:
            found = scores(model, one.query, one.texts).float().tolist() if one.texts else []
            order = sorted(range(len(found)), key=lambda place: (-round(found[place], _DIGITS), one.texts[place]))
            ranked.append([one.right[place] for place in order])
    return measures(ranked)


def measures(ranked: Sequence[Sequence[bool]]) -> dict[str, float]:
    """MRR@10 and the share of questions with a relevant passage among 1 and 10, over questions (best passage first)."""
    firsts = [rank if rank is not None and rank <= _AT else None for rank in first_right(ranked)]
    return {
        "mrr_at_10": sum(1 / rank for rank in firsts if rank is not None) / len(firsts),
        "hit_at_1": sum(rank == 1 for rank in firsts) / len(firsts),
        "hit_at_10": sum(rank is not None for rank in firsts) / len(firsts),
    }


def _run_id(settings: RetrieverTraining, model_id: str, build_id: str, pairs: Path, questions: Path) -> str:
    chosen = {name: value for name, value in dataclasses.asdict(settings).items() if name not in ("output", "device")}
    parts = [chosen, model_id, build_id, sha256(pairs), sha256(questions)]
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:32]


def _card(
    settings: RetrieverTraining, result: TrainedRetriever, index: PassageIndex, pairs: Path, seconds: float
) -> str:
    kind, task, use = (
        ("bi-encoder that embeds questions and passages", "sentence-similarity", "a text; output: its embedding")
        if settings.bi_encoder
        else (
            "cross-encoder that scores passages for a question",
            "text-ranking",
            "`[CLS] question [SEP] title, passage [SEP]`; output: relevance (log odds)",
        )
    )
    shown = {name: value for name, value in dataclasses.asdict(settings).items() if name not in ("base", "output")}
    return f"""---
library_name: {"sentence-transformers" if settings.bi_encoder else "transformers"}
pipeline_tag: {task}
---
# A {kind}

Input: {use}.
Trained by `convinse train retriever` from `{settings.base}` in {seconds:.0f} s, seed {settings.seed}.

## Data
`{pairs.name}`: {result.train} questions to train on and {result.dev} to validate with, which share no relevant passage.
Negatives are the best {settings.candidates} passages by BM25 that are not relevant, of {len(index):,} passages (build id
{index.build_id}).

## Settings
{settings_list(shown)}

## Validation
Of each held-out question the {settings.candidates} best passages by BM25 were ranked anew; a question whose relevant passage
BM25 did not find counts 0.

{validation_table(result.fitted, others={"BM25 alone": result.lexical})}
"""
