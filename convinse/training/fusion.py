"""Training of `ha: seq2seq` by distant supervision: the model learns to write the gold answer after reading evidences.

As in CONVINSE (Christmann et al., SIGIR 2022) the configured stages retrieve the evidences with the gold answers of earlier
turns, the target is the best evidence's name for a gold answer, and turns whose evidences name no gold answer are left out.
Unlike there, questions for yes or no are learned from, too, although no evidence names their answer.
"""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..encoder.checkpoint import load_checkpoint
from ..heterogeneous_answering.question import NO, YES, expected_types
from ..heterogeneous_answering.seq2seq import Seq2SeqAnswering, model_input
from ..records.conversation import Turn, asked_in_full
from ..support.errors import DataError
from .answering import answer_measures, answer_spans
from .conversations import turns_with_evidences
from .objective import Measures, Objective, shuffled_batches
from .trainer import stage_run, start_of

if TYPE_CHECKING:
    import torch

_YES_NO = {YES["label"].lower(), NO["label"].lower()}


# the texts that the model reads together, one for each evidence, and the answer to write
FusionExample = tuple[tuple[str, ...], str]


def train_fusion(ha: Seq2SeqAnswering, sources: Sequence[str]) -> Path:
    """Train on the train part of the configured conversations; returns the model folder, for `ha_model`.

    The epoch of the lowest loss on the dev part is the best; the module's answers with it are measured there. Settings are
    in `config.ha_training`; see `trainer`.
    """
    config, settings = ha.config, ha.config.ha_training
    base, key, output = start_of(config, "ha", ", a BART or T5")
    checkpoint = load_checkpoint(base, "sequence-to-sequence", key)
    from ..encoder.devices import find_device, inference
    from ..encoder.fusion_in_decoder import ANSWER_TOKENS, TEXT_TOKENS, answer_loss, check_kind, cut, usual_budget

    check_kind(checkpoint)
    turns: list[Turn] = [{**turn} for turn in turns_with_evidences(config, "dev", sources, ha.resources)]
    train = _examples(ha, "train", turns_with_evidences(config, "train", sources, ha.resources))
    dev = _examples(ha, "dev", turns)
    run = stage_run("train ha", base, output, checkpoint, settings, config, sources)
    run.log_sizes("turns", len(train), len(dev))
    budget = config.token_budget or usual_budget(find_device(config.device))
    longest_text, longest_answer = (min(most, checkpoint.max_length) for most in (TEXT_TOKENS, ANSWER_TOKENS))

    def losses(model: Any, step: Sequence[FusionExample]) -> Iterator[torch.Tensor]:
        answers = cut(checkpoint.tokenizer, [answer for _, answer in step], longest_answer)
        total = sum(map(len, answers))
        for (texts, _), answer in zip(step, answers, strict=True):
            yield answer_loss(model, cut(checkpoint.tokenizer, texts, longest_text), answer, budget) / total

    def validate(model: Any) -> Measures:
        with inference(model):
            return {"loss": sum(loss.item() for loss in losses(model, dev))}

    def steps(epoch: int) -> list[list[FusionExample]]:
        return shuffled_batches(train, settings.batch_size, random.Random(f"{config.seed} {epoch}"))

    fitted = run.fit(Objective(steps, losses, validate, criterion=lambda measures: -measures["loss"]))
    module = copy.copy(ha)  # a subclass may have another constructor
    # a writer changes its model
    module.writer = ha.build_writer(dataclasses.replace(checkpoint, model=copy.deepcopy(checkpoint.model)))
    measured = answer_measures(module, turns, sources)
    training = msgspec.to_builtins(settings)
    del training["trains"]  # that of the extractive reader
    return run.write(
        fitted,
        "A Fusion-in-Decoder model that writes the answer of a question after reading evidences",
        """
Input: for each evidence `question: QUESTION title: ITEM context: EVIDENCE`; output: the answer, once for all of them.""",
        f"""
Benchmark `{config.benchmark}`: {len(train)} turns to train on and {len(dev)} to validate on, those of whose evidences one names a gold
answer (distant supervision), and those that ask for yes or no.""",
        f"""
Loss: the mean of the tokens of the dev part. Answers of the whole module (`ha: seq2seq`) on all {len(turns)} turns of the dev part: P@1
{measured["p_at_1"]:.3f}, MRR {measured["mrr"]:.3f}, Hit@5 {measured["h_at_5"]:.3f}.""",
        settings=training,
        arguments=["_".join(sources)],
        record=measured,
        remark=f" (P@1 {measured['p_at_1']:.3f} on the dev part); name it in ha_model",
    )


def _examples(ha: Seq2SeqAnswering, part: str, turns: Iterable[Turn]) -> list[FusionExample]:
    examples = [example for turn in turns if (example := fusion_example(ha, turn)) is not None]
    if not examples:
        raise DataError(
            f"train ha: no evidence of the {part} part names a gold answer; is it retrieved from these sources?"
        )
    return examples


def fusion_example(ha: Seq2SeqAnswering, turn: Turn) -> FusionExample | None:
    """Return the example of a turn with its evidences and gold answers; None if no evidence names an answer."""
    read = turn["top_evidences"][: ha.config.evs_max_evidences]
    if not read:
        return None
    name: str | None = None
    ((expected, _),) = expected_types([turn], ha.resources)
    if expected.kind == "yesno":
        name = next((answer["label"] for answer in turn["answers"] if answer["label"].lower() in _YES_NO), None)
    for evidence in () if name else read:
        spans = answer_spans(evidence, turn["answers"])
        if spans:
            name = evidence["evidence_text"][slice(*spans[0])]
            break
    texts = (model_input(asked_in_full(turn), evidence) for evidence in read)
    return (tuple(texts), name) if name else None
