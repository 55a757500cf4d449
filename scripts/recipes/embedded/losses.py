"""What the embedded model is trained to minimise."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

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


def list_losses(model: Any, batch: Batch, budget: int, teacher: Any = None) -> ListLosses:
    """What choosing and reading lose on the examples of a batch.

    Pairs of similar length are computed together, of whichever examples: where an example's texts were, a third of the
    work was padding.

    Answering: the negative log-likelihood of the answer among all spans of all texts of an example and "none of these". The
    probability of a span is that of its text among the texts and "none", whose log odds are 0, times that of the span in the text; the
    likelihood is the sum over all spans that answer, so that of several texts that name the answer the one that tells it counts. Each:
    cross-entropy of the relevance of each text alone, which keeps the odds meaningful between lists; and of [CLS], "no answer", in texts
    without one. Taught: the Kullback-Leibler divergence of the same distribution from the teacher's (Hinton et al., 2015).

    Args:
        budget: most tokens that are computed together, padding counted.
        teacher: a model with the same heads over the same vocabulary.
    """
    scored, read, told, apart, order = [], [], [], [], []
    for places in token_batches(batch.sequences.lengths, budget):
        inputs = model_inputs(model, batch.sequences, places, model.device)
        output = model(**inputs)
        own = _log_probabilities(output, batch.firsts[places], batch.ends[places])
        scored.append(output.logits.float()[:, 0])
        read.append(_likelihoods(*own, batch, places))
        if teacher is not None:
            with torch.no_grad():
                output = teacher(**inputs)
                theirs = _log_probabilities(output, batch.firsts[places], batch.ends[places])
            told.append(output.logits.float()[:, 0])
            pairs = zip(own, theirs, strict=True)
            apart.append(sum((said.exp() * (said - mine)).sum(dim=1) for mine, said in pairs))
        order.append(places)
    back = torch.from_numpy(np.argsort(np.concatenate(order))).to(scored[0].device)
    odds, likelihoods = torch.cat(scored)[back], torch.cat(read)[back]
    relevant = torch.from_numpy(batch.relevant).to(odds.device)
    answering = []
    for own_odds, said, right in zip(
        *(every.split(batch.sizes) for every in (odds, likelihoods, relevant)), strict=True
    ):
        none = own_odds.new_zeros(1)
        answer = torch.logsumexp(own_odds[right] + said[right], 0) if bool(right.any()) else none[0]
        answering.append(torch.logsumexp(torch.cat([own_odds, none]), 0) - answer)
    sure = functional.binary_cross_entropy_with_logits(odds, relevant.float(), reduction="none")
    balance = torch.stack([part.mean() for part in sure.split(batch.sizes)]).sum()
    each = SURE * balance - NOTHING * likelihoods[~relevant].sum()
    taught = odds.new_zeros(())
    if teacher is not None:
        taught = _taught(odds, torch.cat(told)[back], torch.cat(apart)[back], batch.sizes)
    return ListLosses(torch.stack(answering).sum(), each, taught, odds.detach())


def _taught(odds: Tensor, told: Tensor, apart: Tensor, sizes: list[int]) -> Tensor:
    """The divergence of the distributions over all spans of all texts and "none" from the teacher's, summed over the examples.

    Args:
        odds, told: [p] log odds of relevance, the model's own and the teacher's.
        apart: [p] the divergence of the spans in each text.
    """
    lost = odds.new_zeros(())
    for mine, theirs, spans in zip(odds.split(sizes), told.split(sizes), apart.split(sizes), strict=True):
        own, right = (functional.log_softmax(torch.cat([part, part.new_zeros(1)]), 0) for part in (mine, theirs))
        lost = lost + functional.kl_div(own, right, reduction="sum", log_target=True) + (right.exp()[:-1] * spans).sum()
    return lost


def _likelihoods(starts: Tensor, ends: Tensor, batch: Batch, places: np.ndarray) -> Tensor:
    """[p] log-likelihood of the answers of the pairs at these places, by the [p, tokens] of start and end; 0 if they are not marked."""
    found = []
    for row, place in enumerate(places.tolist()):
        spans = torch.from_numpy(batch.spans[place]).to(starts.device)
        likelihood = torch.logsumexp(starts[row, spans[:, 0]] + ends[row, spans[:, 1]], 0)
        found.append(likelihood if batch.readable[place] else likelihood * 0)
    return torch.stack(found)


def _log_probabilities(output: Any, firsts: np.ndarray, stops: np.ndarray) -> tuple[Tensor, Tensor]:
    """[p, tokens] of start and end, over the text's tokens and [CLS]."""
    start, end = output.start_logits.float(), output.end_logits.float()
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
    """(contrast, distillation): means over the queries.

    Args:
        queries: [q, hidden] of length 1.
        texts: [t, hidden]: first the relevant text of each query, in their order, then other texts.
        teacher_queries, teacher_texts: the same of the model to stay close to.
        groups: [q] texts of queries of the same group are not each other's negatives.
        owners: [t] the number of the query that a text belongs to, as its relevant text or as its negative.
    """
    cosines = queries @ texts.T / _TEMPERATURE
    own = torch.arange(len(groups), device=cosines.device)
    allowed = torch.tensor(
        [[owner == query or groups[owner] != group for owner in owners] for query, group in enumerate(groups)],
        device=cosines.device,
    )
    contrast = functional.cross_entropy(cosines.masked_fill(~allowed, _LOWEST), own)
    target = functional.softmax(teacher_queries @ teacher_texts.T / _TEMPERATURE, dim=1)
    distillation = functional.kl_div(functional.log_softmax(cosines, dim=1), target, reduction="batchmean")
    return contrast, distillation


def listwise_loss(queries: Tensor, texts: Tensor, odds: Tensor, owners: Sequence[int]) -> Tensor:
    """How far the embedding's order of each query's own texts is from the cross-encoder's: the mean over the queries.

    Both are distributions over the texts; the Kullback-Leibler divergence of the second from the first (RocketQAv2, Ren
    et al., EMNLP 2021).

    Args:
        queries, texts, owners: as `embedding_losses` takes them.
        odds: [t] log odds of relevance of each text for its owner.
    """
    own = torch.tensor(owners, device=texts.device)
    mine = own[None, :] == torch.arange(len(queries), device=texts.device)[:, None]
    cosines = (queries @ texts.T / _TEMPERATURE).masked_fill(~mine, _LOWEST)
    target = functional.softmax(odds[None, :].expand_as(cosines).masked_fill(~mine, _LOWEST), dim=1)
    return functional.kl_div(functional.log_softmax(cosines, dim=1), target, reduction="batchmean")
