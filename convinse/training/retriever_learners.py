"""The two models that `train retriever` trains: what a step costs each, and how each scores passages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import RetrieverTraining
from ..encoder.checkpoint import load_checkpoint
from ..resources import model_path
from .groups import computed, cross_encoder_to_train, group_loss, pair_odds
from .passage_pairs import Example

if TYPE_CHECKING:
    import torch

_TEMPERATURE = 0.05  # of cosines

Texts = Callable[[Sequence[int]], list[str]]  # passages by their numbers
Step = list[tuple[Example, list[int]]]  # questions, each with a relevant passage and wrong ones behind it


class CrossEncoderLearner:
    """Scores a question with a passage.

    Args:
        settings: name the checkpoint and how it is trained.
        key: what named the checkpoint, for messages.

    Raises:
        ModelError: the checkpoint cannot be loaded, or does not fit.
    """

    title, task, library = "A cross-encoder that scores passages for a question", "text-ranking", "transformers"
    use = "Input: `[CLS] question [SEP] title, passage [SEP]`; output: relevance (log odds)."
    write_more = None

    def __init__(self, settings: RetrieverTraining, key: str) -> None:
        from ..encoder.tokens import TextTokenizer

        self.checkpoint = cross_encoder_to_train(settings.base, key, settings.seed)
        self._loss, self._tokenizer = settings.loss, TextTokenizer.of(self.checkpoint, settings.max_length)

    def scores(self, model: Any, query: str, texts: Sequence[str]) -> torch.Tensor:
        """[n] log odds that texts are relevant for a query."""
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


class BiEncoderLearner:
    """Embeds questions and passages; how token vectors become one stays as the base has it. See `CrossEncoderLearner`."""

    title, task = "A bi-encoder that embeds questions and passages", "sentence-similarity"
    use, library = "Input: a text; output: its embedding.", "sentence-transformers"

    def __init__(self, settings: RetrieverTraining, key: str) -> None:
        from ..encoder.bi_encoder import hub_pooling, pools_first
        from ..encoder.tokens import TextTokenizer

        self.checkpoint = load_checkpoint(model_path(settings.base), "embedding", key)
        folder = self.checkpoint.folder or hub_pooling(settings.base)
        self._pool_first = pools_first(folder, f"{key}: {settings.base}")
        self._tokenizer = TextTokenizer.of(self.checkpoint, settings.max_length)

    def scores(self, model: Any, query: str, texts: Sequence[str]) -> torch.Tensor:
        """[n] cosines of texts with a query."""
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
        """See `write_pooling`."""
        from ..encoder.bi_encoder import write_pooling

        write_pooling(folder, int(self.checkpoint.model.config.hidden_size), self._pool_first)


def _cosines(queries: torch.Tensor, passages: torch.Tensor) -> torch.Tensor:
    """[q, p] in fp32 even where the model computes in bf16, whose three digits would make ties of cosines."""
    import torch

    with torch.autocast(queries.device.type, enabled=False):
        return queries @ passages.T
