"""What the embedded model is trained to minimise."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from convinse.encoder.batches import token_batches
from convinse.encoder.tokens import Sequences
from convinse.encoder.torch_backend import computed, model_inputs, pooled
from recipes.embedded.batches import Batch

_LOWEST = -1e4
_TEMPERATURE = 0.05  # of cosines
SURE = 0.3  # weight of each pair's own loss beside that of its list: it keeps the odds meaningful between lists
NOTHING = 0.5  # weight of "no answer here" beside an answer


class ListLosses(NamedTuple):
    answering: Tensor  # sum over the examples
    each: Tensor  # the same
    taught: Tensor  # the same; 0 without a teacher
    odds: Tensor  # [p] log odds of relevance, detached


def list_losses(model: Any, batch: Batch, budget: int, teacher: Any = None, temperature: float = 1.0) -> ListLosses:
    """What choosing and reading lose on the examples of a batch; both distributions are compared at the `temperature`."""
    scored, read, stated, apart, order = [], [], [], [], []
    for places in token_batches(batch.sequences.lengths, budget):
        inputs = model_inputs(model, batch.sequences, places, model.device)
        output = model(**inputs)
        log_chances = _log_probabilities(output, batch.firsts[places], batch.ends[places])
        scored.append(output.logits.float()[:, 0])
        read.append(_likelihoods(*log_chances, batch, places))
        if teacher is not None:
            with torch.no_grad():
                taught_by = teacher(**inputs)
                theirs = _log_probabilities(taught_by, batch.firsts[places], batch.ends[places], temperature)
            stated.append(taught_by.logits.float()[:, 0])
            mine = _log_probabilities(output, batch.firsts[places], batch.ends[places], temperature)
            pairs = zip(mine, theirs, strict=True)
            apart.append(sum((right.exp() * (right - learned)).sum(dim=1) for learned, right in pairs))
        order.append(places)
    back = torch.from_numpy(np.argsort(np.concatenate(order))).to(scored[0].device)
    odds, likelihoods = torch.cat(scored)[back], torch.cat(read)[back]
    relevant = torch.from_numpy(batch.relevant).to(odds.device)

    def lists(values: Tensor, filling: float = _LOWEST) -> Tensor:
        # [e, most texts] of the [p] values of all texts
        return pad_sequence(values.split(batch.sizes), batch_first=True, padding_value=filling)

    # behind the log odds of the texts stand those of "none of these", which are 0
    chances = functional.pad(lists(odds), (0, 1))
    answer = torch.logsumexp(lists((odds + likelihoods).masked_fill(~relevant, _LOWEST)), 1)
    answer = torch.where(lists(relevant.float(), 0.0).any(dim=1), answer, 0.0)
    answering = torch.logsumexp(chances, 1) - answer
    sure = functional.binary_cross_entropy_with_logits(odds, relevant.float(), reduction="none")
    balance = lists(sure, 0.0).sum(dim=1) / torch.tensor(batch.sizes, device=odds.device)
    each = SURE * balance.sum() - NOTHING * likelihoods[~relevant].sum()
    taught = odds.new_zeros(())
    if teacher is not None:
        theirs = functional.pad(lists(torch.cat(stated)[back]), (0, 1))
        log_chances, right = (functional.log_softmax(part / temperature, 1) for part in (chances, theirs))
        spans = right.exp()[:, :-1] * lists(torch.cat(apart)[back], 0.0)
        taught = functional.kl_div(log_chances, right, reduction="sum", log_target=True) + spans.sum()
        taught = taught * temperature**2  # as large a gradient as without it (Hinton et al., 2015)
    return ListLosses(answering.sum(), each, taught, odds.detach())


def _likelihoods(starts: Tensor, ends: Tensor, batch: Batch, places: np.ndarray) -> Tensor:
    """[p] log-likelihood of the answers of the pairs at these places, by the [p, tokens] of start and end; 0 if they are not marked."""
    spans = [torch.from_numpy(batch.spans[place]) for place in places]
    first, last = pad_sequence(spans, batch_first=True, padding_value=-1).to(starts.device).unbind(dim=2)
    scores = starts.gather(1, first.clamp_min(0)) + ends.gather(1, last.clamp_min(0))
    scores = scores.masked_fill(first < 0, _LOWEST)
    return torch.logsumexp(scores, 1) * torch.from_numpy(batch.readable[places]).to(starts.device)


def _log_probabilities(
    output: Any, firsts: np.ndarray, stops: np.ndarray, temperature: float = 1.0
) -> tuple[Tensor, Tensor]:
    """[p, tokens] of start and end, over the text's tokens and [CLS]."""
    start, end = output.start_logits.float() / temperature, output.end_logits.float() / temperature
    columns = torch.arange(start.shape[1], device=start.device)[None, :]
    lowest, highest = (torch.from_numpy(array).to(start.device)[:, None] for array in (firsts, stops))
    allowed = ((columns >= lowest) & (columns < highest)) | (columns == 0)
    return tuple(functional.log_softmax(logits.masked_fill(~allowed, _LOWEST), dim=1) for logits in (start, end))  # type: ignore[return-value]


def embed(model: Any, sequences: Sequences, budget: int) -> Tensor:
    """[n, hidden] mean-pooled embeddings of length 1, computed in batches of similar length."""

    def embedded(output: Any, mask: Tensor) -> Tensor:
        return functional.normalize(pooled(output.last_hidden_state.float(), mask), dim=1)

    return computed(model, sequences, budget, embedded)


def embedding_losses(
    queries: Tensor,
    texts: Tensor,
    teacher_queries: Tensor,
    teacher_texts: Tensor,
    groups: Sequence[str],
    owners: Sequence[int],
) -> tuple[Tensor, Tensor]:
    """(contrast, distillation): means over the queries."""
    cosines = queries @ texts.T / _TEMPERATURE
    rows = torch.arange(len(groups), device=cosines.device)
    allowed = torch.tensor(
        [[owner == query or groups[owner] != group for owner in owners] for query, group in enumerate(groups)],
        device=cosines.device,
    )
    contrast = functional.cross_entropy(cosines.masked_fill(~allowed, _LOWEST), rows)
    target = functional.softmax(teacher_queries @ teacher_texts.T / _TEMPERATURE, dim=1)
    distillation = functional.kl_div(functional.log_softmax(cosines, dim=1), target, reduction="batchmean")
    return contrast, distillation


def listwise_loss(queries: Tensor, texts: Tensor, odds: Tensor, owners: Sequence[int]) -> Tensor:
    """How far the embedding's order of each query's own texts is from the cross-encoder's: the mean over the queries."""
    owner = torch.tensor(owners, device=texts.device)
    mine = owner[None, :] == torch.arange(len(queries), device=texts.device)[:, None]
    cosines = (queries @ texts.T / _TEMPERATURE).masked_fill(~mine, _LOWEST)
    target = functional.softmax(odds[None, :].expand_as(cosines).masked_fill(~mine, _LOWEST), dim=1)
    return functional.kl_div(functional.log_softmax(cosines, dim=1), target, reduction="batchmean")
