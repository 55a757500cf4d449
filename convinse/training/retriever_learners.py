"""The two models that `train retriever` trains: what a step costs each, and how each scores passages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..config import RankingLoss
from ..encoder.checkpoint import Checkpoint, load_checkpoint
from ..resources import model_path
from .groups import computed, cross_encoder_to_train, group_loss, pair_odds
from .passage_pairs import Example

if TYPE_CHECKING:
    import torch

_TEMPERATURE = 0.05  # of cosines

Texts = Callable[[Sequence[int]], list[str]]  # passages by their numbers
Step = list[tuple[Example, list[int]]]  # questions, each with a relevant passage and wrong ones behind it


class Learner(ABC):
    """A checkpoint in training: a folder or a hub name, which `key` named. Raises `ModelError` where it does not fit."""

    title, use, task, library = "", "", "", "transformers"  # for the model card

    def __init__(self, base: str, key: str, max_length: int, loss: RankingLoss, seed: int) -> None:
        from ..encoder.tokens import TextTokenizer

        self.checkpoint = self._load(base, key, seed)
        self._loss, self._tokenizer = loss, TextTokenizer.of(self.checkpoint, max_length)

    @abstractmethod
    def _load(self, base: str, key: str, seed: int) -> Checkpoint: ...

    @abstractmethod
    def scores(self, model: Any, query: str, texts: Sequence[str]) -> torch.Tensor:
        """[n] how relevant texts are for a query."""

    @abstractmethod
    def loss(self, model: Any, step: Step, texts: Texts) -> Iterator[torch.Tensor]:
        """The loss of a step; nothing where there is nothing to learn."""

    def write_more(self, folder: Path) -> None:
        """What the written model folder needs besides model and tokenizer."""


class CrossEncoderLearner(Learner):
    """Scores a question with a passage: log odds."""

    title, task = "A cross-encoder that scores passages for a question", "text-ranking"
    use = "Input: `[CLS] question [SEP] title, passage [SEP]`; output: relevance (log odds)."

    def _load(self, base: str, key: str, seed: int) -> Checkpoint:
        return cross_encoder_to_train(base, key, seed)

    def scores(self, model: Any, query: str, texts: Sequence[str]) -> torch.Tensor:
        """See the base class."""
        return pair_odds(model, self._tokenizer, [(query, text) for text in texts])

    def loss(self, model: Any, step: Step, texts: Texts) -> Iterator[torch.Tensor]:
        """See `group_loss`; a negative that says the same as the relevant passage is none."""
        groups = []
        for example, numbers in step:
            right, *others = texts(numbers)
            wrong = [text for text in others if text != right]
            if wrong:
                groups.append((example.query, [right, *wrong]))
        if groups:
            yield group_loss(model, self._tokenizer, groups, self._loss)


class BiEncoderLearner(Learner):
    """Embeds questions and passages; how token vectors become one stays as the base has it."""

    title, task = "A bi-encoder that embeds questions and passages", "sentence-similarity"
    use, library = "Input: a text; output: its embedding.", "sentence-transformers"

    def _load(self, base: str, key: str, seed: int) -> Checkpoint:
        from ..encoder.bi_encoder import hub_pooling, pools_first

        checkpoint = load_checkpoint(model_path(base), "embedding", key)
        self._pool_first = pools_first(checkpoint.folder or hub_pooling(base), f"{key}: {base}")
        return checkpoint

    def scores(self, model: Any, query: str, texts: Sequence[str]) -> torch.Tensor:
        """[n] cosines."""
        vectors = self._embed(model, [query, *texts])
        return _cosines(vectors[:1], vectors[1:])[0]

    def loss(self, model: Any, step: Step, texts: Texts) -> Iterator[torch.Tensor]:
        """Cross-entropy of each relevant passage among all texts of the step (Karpukhin et al., EMNLP 2020).

        Other relevant passages of a question are no negatives, and equal texts are one.
        """
        import torch

        column: dict[str, int] = {}
        numbers: list[set[int]] = []  # of the passages with each text
        targets = []
        for _, group in step:
            in_group = texts(group)
            for number, text in zip(group, in_group, strict=True):
                if column.setdefault(text, len(column)) == len(numbers):
                    numbers.append(set())
                numbers[column[text]].add(number)
            targets.append(column[in_group[0]])
        spared = [
            [place != target and not own.isdisjoint(example.right) for place, own in enumerate(numbers)]
            for (example, _), target in zip(step, targets, strict=True)
        ]
        vectors = self._embed(model, [example.query for example, _ in step] + list(column))
        queries, passages = vectors[: len(step)], vectors[len(step) :]
        logits = _cosines(queries, passages) / _TEMPERATURE
        logits = logits.masked_fill(torch.tensor(spared, device=logits.device), -torch.inf)
        yield torch.nn.functional.cross_entropy(logits, torch.tensor(targets, device=logits.device))

    def _embed(self, model: Any, texts: Sequence[str]) -> torch.Tensor:
        """[n, d] of length 1."""
        import torch

        from ..encoder.bi_encoder import pooled

        def pool(output: Any, mask: torch.Tensor) -> torch.Tensor:
            return pooled(output.last_hidden_state.float(), mask, self._pool_first)

        return torch.nn.functional.normalize(computed(model, self._tokenizer.singles(texts), pool), dim=1)

    def write_more(self, folder: Path) -> None:
        """The files by which `BiEncoder` and sentence-transformers know how to pool."""
        modules = [
            {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for place, (kind, path) in enumerate((("Transformer", ""), ("Pooling", "1_Pooling")))
        ]
        pooling = {
            "word_embedding_dimension": int(self.checkpoint.model.config.hidden_size),
            "pooling_mode_cls_token": self._pool_first,
            "pooling_mode_mean_tokens": not self._pool_first,
        }
        (folder / "1_Pooling").mkdir()
        for name, content in (("modules.json", modules), ("1_Pooling/config.json", pooling)):
            (folder / name).write_bytes(msgspec.json.format(msgspec.json.encode(content)) + b"\n")


def _cosines(queries: torch.Tensor, passages: torch.Tensor) -> torch.Tensor:
    """[q, p] in fp32 even where the model computes in bf16, whose three digits would make ties of cosines."""
    import torch

    with torch.autocast(queries.device.type, enabled=False):
        return queries @ passages.T
