"""Training of a reader: examples cut to windows with marked answers, steps of an epoch, and the loss."""

import math
import random
import re
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from case_tables import slow_but
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.tokens import TextTokenizer, token_spans
from convinse.training.mrqa_reader import mixed_steps
from convinse.training.reader import ReadExample, losses, marked_windows
from tiny_models import WORDS, tiny, torch
from toy_reading import toy_examples

TASK = "question-answering"


def checkpoint(kind="bert"):
    return load_checkpoint(tiny(kind, TASK, initializer_range=0.05), TASK)


@cache
def tokenizer(kind="bert"):
    return TextTokenizer.of(checkpoint(kind), 48)


def made(examples, stride=8, share=0.0, kind="bert", seed=0):
    return marked_windows(examples, tokenizer(kind), stride, share, random.Random(seed))


# --- windows

WORD = st.sampled_from([*WORDS[:30], "où", "日本", "x9", "don't", "été", "naïve", "👍🏽"])


@pytest.mark.parametrize("kind", slow_but(["roberta"], ["bert", "roberta"]))
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


# --- training


# --- special tokens
