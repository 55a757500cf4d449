"""Metrics with the interface of the Hugging Face `evaluate` library, one folder each: `compute(predictions, references)`.

Each works without that library (`from convinse.evaluation import klue_mrc; klue_mrc.compute(...)`) and is a folder that
`evaluate.load` can be given.
"""

from __future__ import annotations

from . import klue_mrc

__all__ = ["klue_mrc"]
