"""`train retriever`: a cross-encoder or a bi-encoder learns from judged passages and from what BM25 takes for relevant.

The cross-encoder learns to put a relevant passage before passages of the same question that BM25 ranks high, half of them
among its best 50. The bi-encoder has the passages of the other questions in its batch as negatives besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..config import Device, FitSettings, Positive, Share
from ..config.value_types import Rate, Tokens
from ..passages.index import PassageIndex
from ..passages.search import passage_text
from ..support.errors import DataError
from .objective import FitResult, Measures, Objective
from .passage_pairs import JudgedQuestion, hold_out, read_examples
from .rankers import BiEncoderLearner, CrossEncoderLearner, Group, RankedTexts, group_steps, rank_measures, ranked_anew
from .trainer import Run, check_output, identity_of

_AT = 10  # ranks that the measures look at
_DIGITS = 5  # of scores that count
_GROUPS = 8  # a relevant passage and its negatives, of a step
_POSITIVES = 2  # groups of a question in an epoch at most


class RetrieverTraining(FitSettings, frozen=True, kw_only=True):
    """The options of `train retriever`: how to train a cross-encoder or a bi-encoder on judged passages.

    base: the checkpoint to start from; output: the model folder to write; bi_encoder: train a bi-encoder; candidates: best
    passages by BM25 of a question, from which negatives come and which validation ranks; held_out: share of the questions
    that validate; negatives: of a relevant passage at most; max_length: most tokens of a question with a passage (cross-encoder), or of either;
    device: what computes; seed: of drawing and order.
    """

    base: str
    output: str
    epochs: Positive = 3
    learning_rate: Rate = 3e-5
    bi_encoder: bool = False
    candidates: Positive = 100
    held_out: Share = 0.1
    negatives: Positive = 7
    max_length: Tokens = 256
    device: Device = "auto"
    seed: int = 42


def train_retriever(
    pairs: Path, questions: Path, index: Path, settings: RetrieverTraining, quiet: bool = False
) -> tuple[FitResult, Measures, dict[str, int]]:
    """Train on judged passages (`pairs.tsv`, `questions.jl`) of the index in a folder; see `trainer`.

    The epoch with the best MRR@10 over the mined candidates is kept. Returns the measures of all epochs and of BM25 alone, and the
    numbers of questions to train on (`train`) and to validate with (`dev`).
    """
    key, output = "--base", Path(settings.output)  # as the command calls it, for messages
    check_output(output, "--output")
    opened = PassageIndex(index)
    learner = _learner(settings, key)  # before mining, which may take minutes
    train, held = _examples(pairs, questions, opened, settings, quiet)

    def texts(numbers: Sequence[int]) -> list[str]:  # as search shows them to a reranker
        return [passage_text(passage.title, passage.text) for passage in opened.passages(numbers)]

    def groups(step: Sequence[tuple[JudgedQuestion, Sequence[int]]]) -> list[Group]:
        return [Group(question.query, texts(numbers), numbers, question.right) for question, numbers in step]

    dev = [RankedTexts(e.query, texts(e.ranked), [number in e.right for number in e.ranked]) for e in held]
    identity = identity_of(settings, learner.checkpoint.model_id, [pairs, questions], opened.build_id)
    run = Run(
        "train retriever",
        settings.base,
        output,
        learner.checkpoint,
        settings,
        identity,
        settings.device,
        settings.seed,
        quiet,
    )
    lexical = measures([question.right for question in dev])
    run.log_sizes("questions", len(train), len(dev), lexical)
    sides = [(question, question.right, question.wrong) for question in train]
    fitted = run.fit(
        Objective(
            steps=lambda epoch: group_steps(sides, _POSITIVES, settings.negatives, _GROUPS, settings.seed, epoch),
            loss=lambda model, step: learner.loss(model, groups(step)),
            validate=lambda model: measures(ranked_anew(model, dev, learner.scores, _DIGITS)),
            criterion=lambda epoch: epoch["mrr_at_10"],
        )
    )
    counts = {"train": len(train), "dev": len(dev)}
    run.write(
        fitted,
        learner.title,
        learner.use,
        f"""
`{pairs.name}`: {len(train)} questions to train on and {len(dev)} to validate with, which share no relevant passage.
Negatives are the best {settings.candidates} passages by BM25 that are not relevant, of {len(opened):,} passages (build id
{opened.build_id}).""",
        f"""
Of each held-out question the {settings.candidates} best passages by BM25 were ranked anew; a question whose relevant passage
BM25 did not find counts 0.""",
        task=learner.task,
        library=learner.library,
        rows={"BM25 alone": lexical},
        record={"bm25": lexical, "questions": counts},
        more=learner.write_more,
    )
    return fitted, lexical, counts


def _learner(settings: RetrieverTraining, key: str) -> BiEncoderLearner | CrossEncoderLearner:
    if settings.bi_encoder:
        return BiEncoderLearner(settings.base, key, settings.max_length)
    return CrossEncoderLearner(settings.base, key, settings.max_length, settings.seed)


def _examples(
    pairs: Path, questions: Path, index: PassageIndex, settings: RetrieverTraining, quiet: bool
) -> tuple[list[JudgedQuestion], list[JudgedQuestion]]:
    """Return the questions to train on and those to validate with. Raises `DataError`."""
    examples = read_examples(pairs, questions, index, settings.candidates, quiet)
    try:
        train, held = hold_out(examples, settings.held_out, settings.seed)
    except DataError as error:
        raise DataError(f"{pairs}: {error}") from None
    if not any(example.wrong for example in train):
        raise DataError(
            f"{pairs}: no question has a negative: BM25 finds nothing in {index.folder} but relevant passages"
        )
    return train, held


def measures(ranked: Sequence[Sequence[bool]]) -> Measures:
    """Measure MRR@10 and the share of questions with a relevant passage among 1 and 10 (rankings best first)."""
    return rank_measures([flags[:_AT] for flags in ranked], {"mrr_at_10": None, "hit_at_1": 1, "hit_at_10": _AT})
