"""Training of the rewrite head, over the first layers of the trunk as they are; its own begin as the layers above them."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch.nn import functional

from convinse.encoder.checkpoint import Checkpoint
from convinse.encoder.engine import POINTER_SIZE
from convinse.encoder.heads import RewriteHead
from convinse.encoder.question_readers import MAX_LENGTH, SHARPNESS
from convinse.encoder.tokens import Sequences, TextTokenizer
from convinse.records.rewriting import history_text
from convinse.training.objective import FitResult
from recipes.embedded.frozen import States, fit_head, read_by_trunk
from recipes.embedded.recipe import Recipe
from recipes.embedded.rewrites import Rewrite, conversations, edits, is_held_out, published
from recipes.embedded.synthetic_conversations import SyntheticConversations
from recipes.sources import records

_REPEATED = 2  # times that what people wrote is learned from beside the synthetic conversations


class RewriteExamples(NamedTuple):
    train: list[Rewrite]
    choosing: list[Rewrite]


def rewrite_examples(data: Path, snapshot: Path, synthetic: int, seed: int) -> RewriteExamples:
    convmix = list(conversations(records(data, "convmix", "dev.json.gz"), "convmix"))
    choosing = [turn for turn in convmix if is_held_out(turn.group)]
    embedded = json.loads((snapshot / "conversations" / "train.json").read_bytes())
    embedded_rows = list(conversations(embedded, "embedded"))
    people = [
        *published(data),
        *(turn for turn in convmix if not is_held_out(turn.group)),
        *embedded_rows,
        *embedded_rows,
    ]
    drawn = list(SyntheticConversations(data, seed).draw(synthetic))
    return RewriteExamples(
        people * _REPEATED + random.Random(seed).sample(drawn, min(len(drawn), synthetic)),
        [turn for turn in choosing if turn.history],
    )


class _Targets(NamedTuple):
    """Pairs of question and history; of each token [tokens, 2] the first and last token of the span before it, or 0."""

    sequences: Sequences
    pointers: list[np.ndarray]


def _encoded(examples: Sequence[Rewrite], tokenizer: TextTokenizer) -> _Targets:
    histories = [history_text(example.history) for example in examples]
    questions = [example.question for example in examples]
    sequences = tokenizer.pairs(list(zip(questions, histories, strict=True)))
    pointers = []
    offsets = zip(tokenizer.offsets(questions), tokenizer.offsets(histories), strict=True)
    for number, (example, (old, new)) in enumerate(zip(examples, offsets, strict=True)):
        length, first = int(sequences.lengths[number]), int(sequences.firsts[number])
        points = np.zeros((length, 2), np.int64)
        if len(old) == first - 2:  # else the question was cut
            edit = edits(example.question, example.history, example.rewrite)
            inserted = list(edit.inserted)
            if edit.replaced is not None:
                inserted.append((-1, *edit.replaced))  # [CLS] points at what is replaced
            for gap, start, end in inserted:
                place = 1 + int(np.searchsorted(old[:, 0], gap)) if gap >= 0 else 0
                span = np.flatnonzero((new[:, 1] > start) & (new[:, 0] < end))
                if len(span) and first + span[-1] < length - 1:
                    points[place] = first + span[0], first + span[-1]
        pointers.append(points)
    return _Targets(sequences, pointers)


def train_rewriter(
    checkpoint: Checkpoint, examples: RewriteExamples, recipe: Recipe, state: Path, most: int | None = None
) -> tuple[RewriteHead, FitResult]:
    """Train the head of a recipe that has one for a joint model, which stays as it is."""
    settings, tokenizer = recipe.rewrite, TextTokenizer.of(checkpoint, MAX_LENGTH)
    targets = [_encoded(part[:most], tokenizer) for part in examples]
    train, choosing = (
        read_by_trunk(checkpoint, settings.layer, part.sequences, np.zeros(len(part.pointers), np.float32), recipe)
        for part in targets
    )
    model = checkpoint.model
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        head = RewriteHead(model.config, settings.layer, model.config.num_hidden_layers - settings.layer)
    for layer, above in zip(head.layers, model.bert.encoder.layer[settings.layer :], strict=True):
        layer.begin_as(above)
    fitted = fit_head(
        "rewrite", head, train, recipe, state, lambda head, places: _loss(head, train, targets[0], places),
        lambda head: measures(head, choosing, targets[1]),
    )  # fmt: skip
    return head, fitted


def _loss(head: RewriteHead, read: States, targets: _Targets, places: np.ndarray) -> torch.Tensor:
    hidden, mask, _ = read.batch(places, head)
    outputs = head(hidden, mask).float()
    losses = []
    for row, place in enumerate(places):
        first, length = int(targets.sequences.firsts[place]), int(targets.sequences.lengths[place])
        question_places = slice(0, first)
        start, end = _pointed(outputs[row, :length], first)
        pointers = torch.from_numpy(targets.pointers[place])
        pointers = torch.where(pointers > 0, pointers - first + 1, 0)
        losses += [
            functional.cross_entropy(start, pointers[question_places, 0].to(start.device), reduction="sum"),
            functional.cross_entropy(end, pointers[question_places, 1].to(start.device), reduction="sum"),
        ]
    return torch.stack(losses).sum() / len(places)


def _pointed(outputs: torch.Tensor, first: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Of [tokens, 4 * POINTER_SIZE]: [1 + question, 1 + history] logits of starts and of ends."""
    start_query, end_query, start_key, end_key = outputs.split(POINTER_SIZE, dim=-1)
    keys = torch.cat([torch.zeros(1, dtype=torch.long), torch.arange(first, len(outputs) - 1)])
    starts = start_query[:first] @ start_key[keys].T * SHARPNESS
    ends = end_query[:first] @ end_key[keys].T * SHARPNESS
    return starts, ends


def measures(head: RewriteHead, read: States, targets: _Targets) -> dict[str, float]:
    """The share of questions whose insertions are all right, and the log loss."""
    head.eval()
    right, losses = [], []
    with torch.inference_mode():
        for place in range(len(read.states)):
            places = np.array([place])
            hidden, mask, _ = read.batch(places, head)
            first = int(targets.sequences.firsts[place])
            start, end = _pointed(head(hidden, mask)[0].float().cpu(), first)
            best = torch.stack([start.argmax(dim=-1), end.argmax(dim=-1)], dim=-1).numpy()
            pointers = targets.pointers[place][:first]
            right.append(bool((best == np.where(pointers > 0, pointers - first + 1, 0)).all()))
            losses.append(float(_loss(head, read, targets, places)))
    return {"right": float(np.mean(right)), "log loss": float(np.mean(losses))}
