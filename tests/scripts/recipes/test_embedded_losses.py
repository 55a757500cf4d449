"""What the embedded model minimises: the losses of lists of texts and of embeddings."""

import numpy as np
import pytest

from embedded_examples import FixedOutputs, examples, unanswerable
from recipes.embedded import batches, losses
from recipes.embedded.examples import Candidate, Example
from tiny_models import torch

BUDGET = 200  # tokens: several portions


def log_softmax(values):
    return values - np.log(np.exp(values).sum())


def log_likelihood(batch, row, starts, ends):
    """Of the answer of a row, in any of its places."""
    allowed = [0, *range(int(batch.firsts[row]), int(batch.ends[row]))]
    one, two = (log_softmax(array[row, allowed].astype(np.float64)) for array in (starts, ends))
    return np.log(sum(np.exp(one[allowed.index(a)] + two[allowed.index(b)]) for a, b in batch.spans[row].tolist()))


def expected_losses(model, batch):
    """Both losses by their definition."""
    odds, starts, ends = (array.detach().numpy().astype(np.float64) for array in (model.odds, model.starts, model.ends))
    answering = each = row = 0
    for size in batch.sizes:
        rows = range(row, row + size)
        right = [place for place in rows if batch.relevant[place]]
        expected = {
            place: log_likelihood(batch, place, starts, ends) if batch.readable[place] else 0.0 for place in rows
        }
        whole = 1 + sum(np.exp(odds[place]) for place in rows)
        likely = sum(np.exp(odds[place] + expected[place]) for place in right) if right else 1
        answering -= np.log(likely / whole)
        signs = [-1 if place in right else 1 for place in rows]
        each += losses.SURE * np.mean(np.log1p(np.exp(signs * odds[row : row + size])))
        each -= losses.NOTHING * sum(expected[place] for place in rows if place not in right)
        row += size
    return answering, each


def some_batch(tokenizer):
    unmarked = Example("who who", (Candidate("the film", True, readable=False), Candidate("a song")), "made", "k")
    two_right = Example("who", (Candidate("the film", True, ((4, 8),)), Candidate("a film", True, ((2, 6),)),
                                Candidate("one")), "made", "k")  # fmt: skip
    unanswered = [unanswerable(number, wrong=1 + number) for number in range(3)]
    return batches.batch(
        [*examples(4, 12), unmarked, two_right, *unanswered, *examples(2, 30, wrong=0)], tokenizer, None
    )


@pytest.mark.parametrize("budget", [1, 100, 10**6])
def test_losses_of_pairs_are_their_definition(tokenizer, budget):
    made = some_batch(tokenizer)
    model = FixedOutputs(made)
    found = losses.list_losses(model, made, budget)
    assert [loss.item() for loss in found[:2]] == pytest.approx(expected_losses(model, made), rel=1e-5)


def test_a_teacher_with_the_same_outputs_teaches_nothing_and_another_one_does(tokenizer):
    made = some_batch(tokenizer)
    model, teacher = FixedOutputs(made, 1), FixedOutputs(made, 2)
    assert losses.list_losses(model, made, BUDGET, model).taught.item() == pytest.approx(0, abs=1e-4)
    taught = losses.list_losses(model, made, BUDGET, teacher).taught
    taught.backward()
    assert taught.item() > 1 and model.odds.grad.any() and teacher.odds.grad is None


def test_an_example_that_no_text_answers_teaches_no_answer(tokenizer):
    made = batches.batch([unanswerable(0, wrong=2), unanswerable(1, wrong=1)], tokenizer, None)
    model = FixedOutputs(made)
    answering, each, *_ = losses.list_losses(model, made, BUDGET)
    (answering + each).backward()
    assert (model.odds.grad > 0).all()  # all of them are to be lower
    assert (model.starts.grad[:, 0] < 0).all() and (model.ends.grad[:, 0] < 0).all()  # [CLS] is to be higher
    with torch.no_grad():
        model.starts[:, 0] = model.ends[:, 0] = 50
        model.odds[:] = -50
    assert sum(losses.list_losses(model, made, BUDGET)[:2]).item() == pytest.approx(0, abs=1e-4)


# -- embeddings --------------------------------------------------------------------------------------------------------


def unit(number, seed):
    vectors = torch.randn(number, 8, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.normalize(vectors, dim=1)


def test_embedding_losses_are_their_definition():
    queries, texts, teacher_queries, teacher_texts = (unit(n, seed) for seed, n in enumerate((4, 7, 4, 7)))
    groups, owners = ["a", "b", "a", "c"], [0, 1, 2, 3, 0, 2, 3]
    contrast, distillation = losses.embedding_losses(queries, texts, teacher_queries, teacher_texts, groups, owners)
    cosines, targets = ((q @ t.T).numpy().astype(np.float64) / 0.05 for q, t in
                        ((queries, texts), (teacher_queries, teacher_texts)))  # fmt: skip
    expected = [
        -log_softmax(cosines[row, allowed])[allowed.index(row)]
        for row in range(4)
        for allowed in [[text for text, owner in enumerate(owners) if owner == row or groups[owner] != groups[row]]]
    ]
    assert contrast.item() == pytest.approx(np.mean(expected), rel=1e-4)
    divergence = [
        (np.exp(log_softmax(column)) * (log_softmax(column) - log_softmax(cosine_row))).sum()
        for cosine_row, column in zip(cosines, targets, strict=True)
    ]
    assert distillation.item() == pytest.approx(np.mean(divergence), rel=1e-4)


def test_the_embedding_learns_the_cross_encoders_order():
    queries = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    texts = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    owners = [0, 1, 0]
    # the first query has cosines 1 and 0.6 with its texts; the second a single one, of which there is no order
    same = torch.tensor([1.0, 5.0, 0.6]) / 0.05
    assert losses.listwise_loss(queries, texts, same, owners).item() == pytest.approx(0, abs=1e-5)
    odds = torch.tensor([0.0, 5.0, 0.0])
    share = 1 / (1 + np.exp(-8.0))
    expected = (0.5 * np.log(0.5 / share) + 0.5 * np.log(0.5 / (1 - share))) / 2
    assert losses.listwise_loss(queries, texts, odds, owners).item() == pytest.approx(expected, rel=1e-4)
