"""A few figures of a model in memory, for a look at a training that is under way."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.model.measures import mean_reciprocal_rank
from bench.model.model import Model
from bench.model.ranking import CROSS, OWN, rank_sets
from bench.model.reading import ALONE, AMONG, RELEVANCE, SPAN, WHOLE, reading_scores, readings
from bench.model.sets import DevSets

if TYPE_CHECKING:
    from convinse.encoder.checkpoint import Checkpoint
    from convinse.encoder.precision import Precision


def quick_validation(
    checkpoint: Checkpoint, sets: DevSets, device: str = "auto", precision: Precision = "auto"
) -> dict[str, float]:
    """Figures from 0 to 1 of a joint model, which is not changed: a copy is saved and loaded as users load it.

    Args:
        checkpoint: the model with its tokenizer.
        sets: `dev_sets` of a few questions each.
        device, precision: what to compute the figures with.

    Returns:
        `qamr F1` (of single sentences); `NAME F1` of each set of paragraphs, read whole among distractors; `NAME MRR`
        and `NAME embedding MRR` of each ranked set, by the cross-encoder and by the bi-encoder.
    """
    from convinse.encoder.checkpoint import save_checkpoint

    figures = {}
    with tempfile.TemporaryDirectory(prefix="convinse-") as name:
        save_checkpoint(checkpoint, Path(name))
        model = Model(Path(name), device, precision)
        layout = (ALONE, WHOLE, SPAN)
        if sets.sentences:
            found = readings(model, sets.sentences, _silent, by_sentence=False)
            figures["qamr F1"] = reading_scores(sets.sentences, found, [layout])[layout].f1 / 100
        layout = (AMONG, WHOLE, RELEVANCE)
        for part, questions in sets.paragraphs.items():
            found = readings(model, questions, _silent, by_sentence=False)
            figures[f"{part} F1"] = reading_scores(questions, found, [layout])[layout].f1 / 100
        for part, asked in sets.ranked.items():
            ranks = rank_sets(model, None, asked, _silent).ranks
            figures[f"{part} MRR"] = mean_reciprocal_rank(ranks[CROSS])
            figures[f"{part} embedding MRR"] = mean_reciprocal_rank(ranks[OWN])
    return figures


def _silent(_: int) -> None:
    """No progress."""
