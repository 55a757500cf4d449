"""The sets of `hybrid/`: what each is, how much of it is learned from, and where it is from."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from recipes.embedded.examples import Example
from recipes.embedded.hybrid_tables import aitqa, fetaqa, hybrid_passages, hybrid_rows, tatqa
from recipes.embedded.hybrid_texts import doqa, multihop_paragraphs, onestopqa, redocred
from recipes.embedded.tables import Rows

ROWS = "rows"


class HybridSet(NamedTuple):
    """What is known of a set, and how it is learned from.

    Attributes:
        build: the examples from (shared data, seed), those of rows from (shared data, seed, how rows are learned from);
            it has the name of the set.
        kind: `rows`, `passages`, `sentences` or `conversations`; sets of a kind are measured together.
        content, origin, licence: as the README of the folder states them; they stand in the model card.
        share: of its examples that are learned from: less of what is noisy, or of reports in which only numbers differ.
        read: whether spans are learned; else its texts are only ranked.
    """

    build: Callable[..., Iterator[Example]]
    kind: str
    content: str
    origin: str
    licence: str
    share: float = 1.0
    read: bool = True

    @property
    def name(self) -> str:
        """As mixtures name it."""
        return self.build.__name__

    def examples(self, data: Path, seed: int, *form: Rows) -> Iterator[Example]:
        """The share of its examples, the same for equal arguments."""
        chance = random.Random(f"{self.name} share {seed}")
        return (example for example in self.build(data, seed, *form) if chance.random() < self.share)


HYBRID_SETS = (
    HybridSet(
        hybrid_rows, ROWS, "rows of Wikipedia tables, the answer's or the one that leads to it (HybridQA, OTT-QA)",
        "wenhuchen/HybridQA, wenhuchen/OTT-QA (dev)", "MIT (repositories), CC BY-SA (texts)",
    ),
    HybridSet(
        hybrid_passages, "passages", "Wikipedia introductions that a table leads to (HybridQA, OTT-QA)",
        "wenhuchen/HybridQA, wenhuchen/OTT-QA (dev)", "MIT (repositories), CC BY-SA (texts)", share=0.5, read=False,
    ),
    HybridSet(
        fetaqa, ROWS, "rows of Wikipedia tables whose cells a sentence answer is made of (FeTaQA)",
        "Yale-LILY/FeTaQA (dev)", "CC BY-SA 4.0", read=False,
    ),
    HybridSet(
        tatqa, ROWS, "rows of tables of financial reports (TAT-QA)", "NExTplusplus/TAT-QA", "MIT", share=0.5,
    ),
    HybridSet(
        aitqa, ROWS, "rows of tables of airlines' reports (AIT-QA)", "IBM/AITQA", "CDLA-Sharing-1.0", share=0.5,
    ),
    HybridSet(
        multihop_paragraphs, "passages",
        "Wikipedia paragraphs, supporting against distracting (HotpotQA, 2WikiMultihopQA, MuSiQue)",
        "JianGuanTHU/AMOR, AdelWang/MIGRES, saptarshi059/TTS-project, hexuan21/lite_raptor",
        "CC BY-SA 4.0, Apache 2.0, CC BY 4.0", read=False,
    ),
    HybridSet(
        redocred, "sentences", "facts and the sentences of Wikipedia introductions that state them (Re-DocRED)",
        "tonytan48/Re-DocRED (dev)", "MIT",
    ),
    HybridSet(
        doqa, "conversations", "follow-up questions about answers of a forum (DoQA)", "hyintell/CITB", "CC BY-SA 4.0",
        share=0.3,
    ),
    HybridSet(
        onestopqa, "sentences", "sentences of news that hold the evidence (OneStopQA)", "berzak/onestop-qa",
        "CC BY-SA 4.0",
    ),
)  # fmt: skip
