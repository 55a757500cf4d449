"""Losses and scores of the two models that rank texts, a cross-encoder and a bi-encoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import RankingLoss
from ..encoder.checkpoint import load_checkpoint
from .ranking import Group

if TYPE_CHECKING:
    import torch

_TEMPERATURE = 0.05  # of cosines
_TOKENS = 4096  # computed at a time


class CrossEncoderLearner:
    """A cross-encoder with one output or two; a checkpoint with another head gets a new head with one output.

    Args:
        key: the setting that names the checkpoint, for messages.
        max_length: most tokens of a question and a text.
        seed: of a new head.

    Raises:
        ModelError: the checkpoint cannot be loaded, or does not fit.
    """

    title, task, library = "A cross-encoder that scores passages for a question", "text-ranking", "transformers"
    use = "Input: `[CLS] question [SEP] title, passage [SEP]`; output: relevance (log odds)."
    write_more = None

    def __init__(self, base: str, key: str, max_length: int, loss: RankingLoss, seed: int) -> None:
        from ..encoder.tokens import TextTokenizer

        load = partial(load_checkpoint, base, "sequence-classification", key, new_head=True)
        self.checkpoint = load()
        if self.checkpoint.model.config.num_labels not in (1, 2) or self.checkpoint.missing:
            self.checkpoint = load(labels=1, seed=seed)
        self._loss, self._tokenizer = loss, TextTokenizer.of(self.checkpoint, max_length)

    def scores(self, model: Any, query: str, texts: Sequence[str]) -> torch.Tensor:
        """Return the [n] log odds that texts are relevant for a query."""
        return self._odds(model, [(query, text) for text in texts])

    def loss(self, model: Any, step: Sequence[Group]) -> Iterator[torch.Tensor]:
        """Yield the mean over groups, in which wrong texts equal to the right one do not count.

        The loss of a group is the cross-entropy of the right text (listwise), or the log-sigmoid of right minus wrong
        (pairwise).
        """
        import torch

        groups = [[text for n, text in enumerate(group.texts) if not n or text != group.texts[0]] for group in step]
        ranked = [(group.query, texts) for group, texts in zip(step, groups, strict=True) if len(texts) > 1]
        if not ranked:
            return
        all_odds = self._odds(model, [(query, text) for query, texts in ranked for text in texts])
        losses = []
        for odds in torch.split(all_odds, [len(texts) for _, texts in ranked]):
            if self._loss == "listwise":
                losses.append(torch.logsumexp(odds, 0) - odds[0])
            else:
                losses.append(-torch.nn.functional.logsigmoid(odds[0] - odds[1:]).mean())
        yield torch.stack(losses).mean()

    def _odds(self, model: Any, pairs: Sequence[tuple[str, str]]) -> torch.Tensor:
        from ..encoder.torch_backend import computed, log_odds

        return computed(model, self._tokenizer.pairs(pairs), _TOKENS, log_odds)


class BiEncoderLearner:
    """A bi-encoder with the pooling of its base; arguments as of `CrossEncoderLearner`."""

    title, task = "A bi-encoder that embeds questions and passages", "sentence-similarity"
    use, library = "Input: a text; output: its embedding.", "sentence-transformers"

    def __init__(self, base: str, key: str, max_length: int) -> None:
        from ..encoder.pooling import hub_pooling, pools_first
        from ..encoder.tokens import TextTokenizer

        self.checkpoint = load_checkpoint(base, "embedding", key)
        self._pool_first = pools_first(self.checkpoint.folder or hub_pooling(base), f"{key}: {base}")
        self._tokenizer = TextTokenizer.of(self.checkpoint, max_length)

    def scores(self, model: Any, query: str, texts: Sequence[str]) -> torch.Tensor:
        """Return the [n] cosines of texts with a query."""
        vectors = self._embed(model, [query, *texts])
        return _cosines(vectors[:1], vectors[1:])[0]

    def loss(self, model: Any, step: Sequence[Group]) -> Iterator[torch.Tensor]:
        """Yield the cross-entropy of each right text among all texts of the step (Karpukhin et al., EMNLP 2020).

        Other relevant texts of a question are not negatives, and equal texts are one.
        """
        import torch

        numbers: dict[str, set[int]] = {}  # of the passages with each text
        for group in step:
            for number, text in zip(group.numbers, group.texts, strict=True):
                numbers.setdefault(text, set()).add(number)
        column = {text: place for place, text in enumerate(numbers)}
        targets = [column[group.texts[0]] for group in step]
        spared = [
            [place != target and not same.isdisjoint(group.relevant) for place, same in enumerate(numbers.values())]
            for group, target in zip(step, targets, strict=True)
        ]
        vectors = self._embed(model, [*(group.query for group in step), *column])
        logits = _cosines(vectors[: len(step)], vectors[len(step) :]) / _TEMPERATURE
        logits = logits.masked_fill(torch.tensor(spared, device=logits.device), -torch.inf)
        yield torch.nn.functional.cross_entropy(logits, torch.tensor(targets, device=logits.device))

    def _embed(self, model: Any, texts: Sequence[str]) -> torch.Tensor:
        import torch

        from ..encoder.torch_backend import computed, pooled

        def pool(output: Any, mask: torch.Tensor) -> torch.Tensor:
            return pooled(output.last_hidden_state.float(), mask, self._pool_first)

        return torch.nn.functional.normalize(computed(model, self._tokenizer.singles(texts), _TOKENS, pool), dim=1)

    def write_more(self, folder: Path) -> None:
        """Write the pooling of the model, see `write_pooling`."""
        from ..encoder.pooling import write_pooling

        write_pooling(folder, int(self.checkpoint.model.config.hidden_size), self._pool_first)


def _cosines(queries: torch.Tensor, passages: torch.Tensor) -> torch.Tensor:
    import torch

    # in fp32 even if the model computes in bf16, whose three digits would make ties of cosines
    with torch.autocast(queries.device.type, enabled=False):
        return queries @ passages.T
