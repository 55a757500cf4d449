"""The loss, and training on a task that a tiny model learns."""

import math
import random
from pathlib import Path

import numpy as np
import pytest

from convinse.config import FitSettings
from convinse.encoder.checkpoint import add_tokens, load_checkpoint, save_checkpoint
from convinse.encoder.extractive_reader import ExtractiveReader, best_answers
from convinse.encoder.tokens import TextTokenizer
from convinse.training.mrqa_reader import MARKS, mixed_steps
from convinse.training.reader import ReadExample, WindowSettings, losses, marked_windows, reader_learning
from convinse.training.trainer import Run, Start
from tiny_models import tiny, torch
from toy_reading import toy_examples
from trainings import same

TRAIN, DEV = toy_examples(1, 600), toy_examples(2, 40)


def checkpoint(task="question-answering", kind="bert"):
    return load_checkpoint(tiny(kind, task, initializer_range=0.05), "question-answering", new_head=True)


def measured(reader):
    answers = best_answers(reader, [(example.question, example.context) for example in DEV])
    right = [
        answer.text == example.context[slice(*example.spans[0])] for answer, example in zip(answers, DEV, strict=True)
    ]
    return {"right": sum(right) / len(right)}


def train(
    output, model=None, examples=TRAIN, validate=measured, run_id="one", batch_size=32, parts=1, seed=42, **settings
):
    model = model or checkpoint()
    settings = FitSettings(**{"epochs": 3, "learning_rate": 3e-3, "patience": 99, **settings})
    run = Run("test", Start("base", "key", Path(output)), model, settings, run_id, "cpu", seed, True)
    learning = reader_learning(
        run,
        WindowSettings(64, 8, negatives=0.5),
        lambda number: mixed_steps([examples], batch_size, parts, number, 7),
        lambda copied: ExtractiveReader(copied, "cpu", max_length=64, stride=8),
        validate,
        lambda measures: measures["right"],
    )
    result = run.fit(learning)
    return result, {name: tensor.clone() for name, tensor in model.model.state_dict().items()}


# --- the loss


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@pytest.mark.parametrize("budget", [10_000, 100, 1])
def test_the_loss_is_its_formula(kind, budget):
    model = checkpoint(kind=kind)
    tokenizer = TextTokenizer.of(model, 48)
    examples = [
        ReadExample("who", "tolkien wrote a book tolkien", ((0, 7), (21, 28))),
        ReadExample("where", "a city"),
        ReadExample("what song", "the song " + "of south africa " * 30, ((4, 8), (9, 24))),
    ]
    step = marked_windows(examples, tokenizer, WindowSettings(48, 8, 0.5), random.Random(1))
    assert len(step.starts) >= 4
    model.model.eval()
    expected = []
    for row, window in enumerate(step.kept):  # each window alone, each sum by hand
        ids, first = step.sequences.ids[window], step.sequences.firsts[window]
        types = [0 if place < first else step.sequences.second_type for place in range(len(ids))]
        inputs = {"input_ids": torch.from_numpy(ids.astype(np.int64))[None]}
        if kind == "bert":
            inputs["token_type_ids"] = torch.tensor([types])
        with torch.inference_mode():
            output = model.model(**inputs)
        allowed = [0, *range(first, step.ends[window])]
        for logits, gold in ((output.start_logits[0], step.starts[row]), (output.end_logits[0], step.lasts[row])):
            weights = {place: math.exp(logits[place]) for place in allowed}
            expected.append(-math.log(sum(weights[place] for place in gold) / sum(weights.values())))
    batches = []
    model.model.register_forward_pre_hook(lambda *given: batches.append(given[2]["input_ids"]), with_kwargs=True)
    found = list(losses(model.model, step, budget))
    assert sum(found).item() == pytest.approx(sum(expected) / len(expected), abs=1e-5)
    assert len(found) == len(batches) == {10_000: 1, 1: len(step.starts)}.get(budget, len(found)) and (
        budget != 100 or len(found) > 1
    )


def test_summands_give_the_gradient_of_the_whole():
    step = marked_windows(TRAIN[:12], TextTokenizer.of(checkpoint(), 48), WindowSettings(48, 8, 0.5), random.Random(1))
    gradients = []
    for budget in (10_000, 40):
        model = checkpoint().model.eval()
        for loss in losses(model, step, budget):
            loss.backward()
        gradients.append([parameter.grad for parameter in model.parameters()])
    for whole, summed in zip(*gradients, strict=True):
        assert torch.allclose(whole, summed, atol=1e-6)


# --- training


def test_the_task_is_learned(tmp_path):
    result, _ = train(tmp_path / "model", epochs=7)
    scores = [measures["right"] for measures in result.history]
    assert scores[0] < 0.3 and max(scores) > 0.85 and result.best == scores.index(max(scores))


def test_no_answer_is_learned(tmp_path):
    model = checkpoint()
    without = [ReadExample("who", "".join(example.context.split("born "))) for example in toy_examples(5, 300)]
    train(tmp_path / "model", model, TRAIN[:300] + without, epochs=5)
    reader = ExtractiveReader(model, "cpu", max_length=64, stride=8)
    chances = [
        [a.no_answer for a in best_answers(reader, [(e.question, e.context) for e in part])]
        for part in (without[:50], DEV)
    ]
    assert min(chances[0]) > 0.9 and min(chances[0]) > max(chances[1]) + 0.2


def test_validation_leaves_the_model_as_it_is(tmp_path):
    """The reader changes its model in place; what is trained must not be that one."""
    kept = []

    def validate(reader):
        kept.append(reader.engine.backend.model)
        return measured(reader)

    model = checkpoint()
    types = [type(module) for module in model.model.modules()]
    train(tmp_path / "model", model, TRAIN[:32], validate, epochs=1)
    assert all(copied is not model.model for copied in kept)
    assert [type(module) for module in model.model.modules()] == types
    assert all(parameter.requires_grad for parameter in model.model.parameters())


def test_seeded_runs_are_equal(tmp_path):
    examples = TRAIN[:64] + toy_examples(3, 16, longest=200)  # some in several windows, of which a share is drawn
    runs = [train(tmp_path / str(number), examples=examples, seed=seed) for number, seed in enumerate((7, 7, 8))]
    assert runs[0][0] == runs[1][0] and same(runs[0][1], runs[1][1])
    assert not same(runs[0][1], runs[2][1])


# --- special tokens


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_marks_become_tokens_of_their_own(tmp_path, kind):
    model = checkpoint(kind=kind)
    rows = model.model.get_input_embeddings().weight.detach().clone()
    text = "[TLE] the hobbit [DOC] a[PAR]book [par]"
    before = TextTokenizer.of(model, 64).ids([text])[0]
    model = add_tokens(model, MARKS, 42)
    new = model.model.get_input_embeddings().weight
    assert len(new) == len(rows) + 3 == len(model.tokenizer) and torch.equal(new[: len(rows)], rows)
    assert len({tuple(row.tolist()) for row in new[len(rows) :]}) == 3
    save_checkpoint(model, tmp_path / "saved")
    model = load_checkpoint(tmp_path / "saved", "question-answering")
    ids = TextTokenizer.of(model, 64).ids([text])[0].tolist()
    numbers = [len(rows), len(rows) + 1, len(rows) + 2]
    assert [number for number in ids if number >= len(rows)] == numbers and len(ids) < len(before)
    windows = TextTokenizer.of(model, 64).windows([("who", text)], 8)
    offsets = windows.offsets[0]
    marked = [text[start:end] for (start, end), number in zip(offsets, ids, strict=True) if number in numbers]
    assert [mark.strip() for mark in marked] == ["[TLE]", "[DOC]", "[PAR]"]
    assert ExtractiveReader(model, "cpu").read("who", [text])[0].text in text


def test_marks_that_are_known_are_kept():
    once = add_tokens(checkpoint(), MARKS, 42)
    size = len(once.tokenizer)
    twice = add_tokens(once, MARKS, 43)
    assert len(twice.tokenizer) == size == twice.model.get_input_embeddings().num_embeddings


def test_new_embeddings_are_seeded():
    rows = [add_tokens(checkpoint(), MARKS, seed).model.get_input_embeddings().weight[-3:] for seed in (1, 1, 2)]
    assert torch.equal(rows[0], rows[1]) and not torch.equal(rows[0], rows[2])
