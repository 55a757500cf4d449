"""Training of a reader: examples cut to windows with marked answers, steps of an epoch, the loss, and a task that is learned."""

import math
import random
import re
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.config import FitSettings
from convinse.encoder.checkpoint import add_tokens, load_checkpoint, save_checkpoint
from convinse.encoder.extractive_reader import ExtractiveReader, best_answers
from convinse.encoder.tokens import TextTokenizer, token_spans
from convinse.training.mrqa_reader import MARKS, mixed_steps
from convinse.training.reader import ReadExample, WindowSettings, losses, marked_windows, reader_objective
from convinse.training.trainer import Run, Start
from tiny_models import WORDS, tiny, torch
from toy_reading import toy_examples
from trainings import same

TASK = "question-answering"


def checkpoint(kind="bert"):
    return load_checkpoint(tiny(kind, TASK, initializer_range=0.05), TASK)


@cache
def tokenizer(kind="bert"):
    return TextTokenizer.of(checkpoint(kind), 48)


def made(examples, stride=8, share=0.0, kind="bert", seed=0):
    return marked_windows(examples, tokenizer(kind), WindowSettings(48, stride, share), random.Random(seed))


# --- windows

WORD = st.sampled_from([*WORDS[:30], "où", "日本", "x9", "don't", "été", "naïve", "👍🏽"])


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@given(st.lists(WORD, min_size=1, max_size=70), st.data())
def test_in_every_window_the_marked_tokens_say_the_answer(kind, words, data):
    text = " ".join(words)
    first = data.draw(st.integers(0, len(words) - 1))
    answer = " ".join(words[first : first + data.draw(st.integers(1, 3))])
    spans = tuple(match.span() for match in re.finditer(rf"(?<!\S){re.escape(answer)}(?!\S)", text))
    found = made([ReadExample("who wrote it", text, spans)], kind=kind)
    windows = tokenizer(kind).windows([("who wrote it", text)], 8)
    tokens, answered = token_spans(spans, windows.offsets[0]), []
    for place, begin in enumerate(windows.begins):
        size = windows.sequences.lengths[place] - windows.sequences.firsts[place] - windows.trailing
        inside = {tuple(span) for span in tokens if span[0] >= begin and span[1] < begin + size}
        if inside:
            answered.append(inside)
    assert len(found.starts) == len(answered)  # a window with an answer is kept, one without is not
    backend = checkpoint(kind).tokenizer.backend_tokenizer
    expected = backend.decode(backend.encode(answer, add_special_tokens=False).ids).strip()
    for row, inside in enumerate(answered):
        window, starts, lasts = found.chosen[row], found.starts[row], found.lasts[row]
        assert len(starts) == len({first for first, _ in inside}) and len(lasts) == len({last for _, last in inside})
        for start in starts if len(spans) == 1 else ():
            last = min(place for place in lasts if place >= start)
            assert backend.decode(list(found.sequences.ids[window][start : last + 1])).strip() == expected
        assert all(found.sequences.firsts[window] <= place < found.ends[window] for place in [*starts, *lasts])


@given(st.text(st.sampled_from("ab \n\u0301é日👍🏽\r"), max_size=40), st.data())
def test_token_spans_cover_the_characters(text, data):
    (offsets,) = tokenizer().offsets([text])
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    touched = [n for n, (a, b) in enumerate(offsets) if a < end and b > start]
    assert token_spans([(start, end)], offsets).tolist() == ([[touched[0], touched[-1]]] if touched else [])


def test_several_spans_are_all_right_and_one_without_tokens_gives_no_window():
    found = made([ReadExample("who", "tolkien wrote a book tolkien", ((0, 7), (21, 28)))])
    (start,), (last,) = found.starts, found.lasts
    assert start.tolist() == last.tolist() == [3, 7]  # [CLS] who [SEP] tolkien ...
    found = made([ReadExample("who", "the   book", ((4, 5),))], share=1.0)
    assert found.starts == [] and len(found.chosen) == 0


def test_a_text_without_an_answer_points_at_cls():
    long = " ".join(["book"] * 100)
    found = made([ReadExample("who", long), ReadExample("who", "")])
    assert len(found.starts) == len(tokenizer().windows([("who", long)], 8).begins) + 1
    assert all(start.tolist() == last.tolist() == [0] for start, last in zip(found.starts, found.lasts, strict=True))


def test_a_share_of_the_windows_without_an_answer_is_drawn():
    text = "tolkien " + " ".join(["book"] * 200)
    example = ReadExample("who", text, ((0, 7),))
    counts = [len(made([example], share=share).starts) for share in (0.0, 0.5, 1.0)]
    assert counts[0] == 1 and counts[0] < counts[1] < counts[2] == len(tokenizer().windows([("who", text)], 8).begins)
    assert [start.tolist() for start in made([example], share=1.0).starts] == [[3]] + [[0]] * (counts[2] - 1)
    first, again = (made([example], share=0.3, seed=5).chosen.tolist() for _ in range(2))
    assert first == again
    assert len({len(made([example], share=0.3, seed=seed).starts) for seed in range(20)}) > 1


def test_a_window_with_a_part_of_the_answer_is_not_learned_from():
    text = " ".join(["book"] * 60)
    window = tokenizer().windows([("who", text)], 8)
    size = int(window.sequences.lengths[0]) - 4  # of the text in a window
    start, end = (size - 1) * 5, (size + 1) * 5 - 1  # the last word of the first window and the one behind
    found = made([ReadExample("who", text, ((start, end),))], share=1.0)
    assert len(window.begins) == 2 and window.begins[1] == size - 8
    assert [start.tolist() for start in found.starts] == [[3 + 7]]


# --- steps


@given(st.lists(st.integers(0, 40), min_size=1, max_size=5), st.integers(1, 16), st.integers(1, 4), st.integers(1, 3))
def test_an_epoch_has_each_example_once_and_equal_parts(sizes, batch_size, parts, epoch):
    sets = [[ReadExample(f"{which}", f"{n}") for n in range(size)] for which, size in enumerate(sizes)]
    cut = [mixed_steps(sets, batch_size, parts, (epoch - 1) * parts + part, 7) for part in range(1, parts + 1)]
    assert len({len(part) for part in cut}) == 1
    steps = [step for part in cut for step in part]
    assert Counter(e for step in steps for e in step) == Counter(e for examples in sets for e in examples)
    assert max(map(len, steps)) <= batch_size and max(map(len, steps)) - min(map(len, steps)) <= 1


def test_every_step_is_drawn_over_all_sets_by_their_sizes_and_anew_in_each_epoch():
    sets = [[ReadExample(str(which), str(n)) for n in range(size)] for which, size in enumerate((400, 100, 300))]
    steps = mixed_steps(sets, 32, 1, 1, 7)
    for step in steps:
        shares = np.array([sum(e.question == str(which) for e in step) for which in range(3)])
        assert np.all(np.abs(shares - np.array([16, 4, 12])) <= 3)
    assert steps == mixed_steps(sets, 32, 1, 1, 7)
    assert steps != mixed_steps(sets, 32, 1, 2, 7) and steps != mixed_steps(sets, 32, 1, 1, 8)


# --- the loss


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@pytest.mark.parametrize("budget", [10_000, 100, 1])
def test_the_loss_is_its_formula(kind, budget):
    model = checkpoint(kind).model.eval()
    examples = [
        ReadExample("who", "tolkien wrote a book tolkien", ((0, 7), (21, 28))),
        ReadExample("where", "a city"),
        ReadExample("what song", "the song " + "of south africa " * 30, ((4, 8), (9, 24))),
    ]
    step = made(examples, share=0.5, kind=kind, seed=1)
    assert len(step.starts) >= 4
    expected = []
    for row, window in enumerate(step.chosen):  # each window alone, each sum by hand
        ids, first = step.sequences.ids[window], step.sequences.firsts[window]
        types = [0 if place < first else step.sequences.second_type for place in range(len(ids))]
        inputs = {"input_ids": torch.from_numpy(ids.astype(np.int64))[None]}
        if kind == "bert":
            inputs["token_type_ids"] = torch.tensor([types])
        with torch.inference_mode():
            output = model(**inputs)
        allowed = [0, *range(first, step.ends[window])]
        for logits, gold in ((output.start_logits[0], step.starts[row]), (output.end_logits[0], step.lasts[row])):
            odds = {place: math.exp(logits[place]) for place in allowed}
            expected.append(-math.log(sum(odds[place] for place in gold) / sum(odds.values())))
    batches = []
    model.register_forward_pre_hook(lambda *call: batches.append(call[2]["input_ids"]), with_kwargs=True)
    found = list(losses(model, step, budget))
    assert sum(found).item() == pytest.approx(sum(expected) / len(expected), abs=1e-5)
    least, most = {10_000: (1, 1), 100: (2, len(step.starts)), 1: (len(step.starts), len(step.starts))}[budget]
    assert len(found) == len(batches) and least <= len(found) <= most


TRAIN, DEV = toy_examples(1, 600), toy_examples(2, 40)


def test_summands_give_the_gradient_of_the_whole():
    step, gradients = made(TRAIN[:12], share=0.5, seed=1), []
    for budget in (10_000, 40):
        model = checkpoint().model.eval()
        for loss in losses(model, step, budget):
            loss.backward()
        gradients.append([parameter.grad for parameter in model.parameters()])
    for whole, summed in zip(*gradients, strict=True):
        assert torch.allclose(whole, summed, atol=1e-6)


# --- training


def share_right(reader):
    answers = best_answers(reader, [(example.question, example.context) for example in DEV])
    pairs = zip(answers, DEV, strict=True)
    right = [answer.text == example.context[slice(*example.spans[0])] for answer, example in pairs]
    return {"right": sum(right) / len(right)}


def train(output, model, examples=TRAIN, validate=share_right, epochs=3, seed=42):
    settings = FitSettings(epochs=epochs, learning_rate=3e-3, patience=99)
    run = Run("test", Start("base", "key", Path(output)), model, settings, "one", "cpu", seed, True)
    objective = reader_objective(
        run,
        WindowSettings(64, 8, negatives=0.5),
        lambda number: mixed_steps([examples], 32, 1, number, 7),
        lambda copied: ExtractiveReader(copied, "cpu", max_length=64, stride=8),
        validate,
        lambda measures: measures["right"],
    )
    return run.fit(objective)


def test_runs_of_one_seed_are_equal_and_of_another_are_not(tmp_path):
    examples = TRAIN[:64] + toy_examples(3, 16, longest=200)  # some in several windows, of which a share is drawn
    trained = []
    for number, seed in enumerate((7, 7, 8)):
        model = checkpoint()
        train(tmp_path / str(number), model, examples, seed=seed)
        trained.append(model.model.state_dict())
    assert same(trained[0], trained[1]) and not same(trained[0], trained[2])


def test_no_answer_is_learned(tmp_path):
    model = checkpoint()
    without = [ReadExample("who", "".join(example.context.split("born "))) for example in toy_examples(5, 300)]
    train(tmp_path / "model", model, TRAIN[:300] + without, epochs=5)
    reader = ExtractiveReader(model, "cpu", max_length=64, stride=8)
    unanswered, answered = (
        [answer.no_answer for answer in best_answers(reader, [(e.question, e.context) for e in part])]
        for part in (without[:50], DEV)
    )
    assert min(unanswered) > 0.9 and min(unanswered) > max(answered) + 0.2


def test_validation_leaves_the_model_as_it_is(tmp_path):
    """The reader changes its model in place; what is trained must not be that one."""
    models = []

    def validate(reader):
        models.append(reader.engine.backend.model)
        return share_right(reader)

    model = checkpoint()
    types = [type(module) for module in model.model.modules()]
    train(tmp_path / "model", model, TRAIN[:32], validate, epochs=1)
    assert all(copied is not model.model for copied in models)
    assert [type(module) for module in model.model.modules()] == types
    assert all(parameter.requires_grad for parameter in model.model.parameters())


# --- special tokens


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_marks_become_tokens_of_their_own(tmp_path, kind):
    model = checkpoint(kind)
    rows = model.model.get_input_embeddings().weight.detach().clone()
    text = "[TLE] the hobbit [DOC] a[PAR]book [par]"
    before = TextTokenizer.of(model, 64).ids([text])[0]
    model = add_tokens(model, MARKS, 42)
    new = model.model.get_input_embeddings().weight
    assert len(new) == len(rows) + 3 == len(model.tokenizer) and torch.equal(new[: len(rows)], rows)
    assert len({tuple(row.tolist()) for row in new[len(rows) :]}) == 3
    save_checkpoint(model, tmp_path / "saved")
    model = load_checkpoint(tmp_path / "saved", TASK)
    ids = TextTokenizer.of(model, 64).ids([text])[0].tolist()
    numbers = [len(rows), len(rows) + 1, len(rows) + 2]
    assert [number for number in ids if number >= len(rows)] == numbers and len(ids) < len(before)
    offsets = TextTokenizer.of(model, 64).windows([("who", text)], 8).offsets[0]
    marked = [text[start:end] for (start, end), number in zip(offsets, ids, strict=True) if number in numbers]
    assert [mark.strip() for mark in marked] == ["[TLE]", "[DOC]", "[PAR]"]
    assert ExtractiveReader(model, "cpu").read("who", [text])[0].text in text


def test_new_embeddings_are_seeded_and_known_marks_are_kept():
    first, again, other = (add_tokens(checkpoint(), MARKS, seed) for seed in (1, 1, 2))
    rows = [model.model.get_input_embeddings().weight[-3:] for model in (first, again, other)]
    assert torch.equal(rows[0], rows[1]) and not torch.equal(rows[0], rows[2])
    size = len(first.tokenizer)
    twice = add_tokens(first, MARKS, 43)
    assert len(twice.tokenizer) == size == twice.model.get_input_embeddings().num_embeddings
