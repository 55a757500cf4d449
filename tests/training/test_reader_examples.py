"""Examples to windows with marked answers, and epochs to steps."""

import random
import re
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.tokens import TextTokenizer, token_spans
from convinse.training.mrqa_reader import mixed_steps
from convinse.training.reader import ReadExample, WindowSettings, marked_windows
from tiny_models import WORDS, tiny

MAX_LENGTH = 48


@cache
def checkpoint(kind):
    return load_checkpoint(tiny(kind, "question-answering"), "question-answering")


@cache
def tokenizer(kind="bert"):
    return TextTokenizer.of(checkpoint(kind), MAX_LENGTH)


def made(examples, stride=8, share=0.0, kind="bert", seed=0):
    return marked_windows(examples, tokenizer(kind), WindowSettings(MAX_LENGTH, stride, share), random.Random(seed))


def places(text, answer):
    return tuple(match.span() for match in re.finditer(rf"(?<!\S){re.escape(answer)}(?!\S)", text))


WORD = st.sampled_from([*WORDS[:30], "où", "日本", "x9", "don't", "été", "naïve", "👍🏽"])


@pytest.mark.parametrize("kind", ["bert", "roberta"])
@given(st.lists(WORD, min_size=1, max_size=70), st.data())
def test_what_is_marked_is_the_answer(kind, words, data):
    """The tokens from each marked beginning to its end are those of the answer, in every window, and none is missed."""
    text = " ".join(words)
    first = data.draw(st.integers(0, len(words) - 1))
    answer = " ".join(words[first : first + data.draw(st.integers(1, 3))])
    spans = places(text, answer)
    found = made([ReadExample("who wrote it", text, spans)], kind=kind)
    windows = tokenizer(kind).windows([("who wrote it", text)], 8)
    texts, seen = [], set()
    for place, begin in enumerate(windows.begins):
        size = windows.sequences.lengths[place] - windows.sequences.firsts[place] - windows.trailing
        inside = token_spans(spans, windows.offsets[0])
        inside = {tuple(span) for span in inside if span[0] >= begin and span[1] < begin + size}
        if inside:
            texts.append(inside)
            seen |= inside
    assert len(found.starts) == len(texts)  # a window with an answer is kept, one without is not
    backend = checkpoint(kind).tokenizer.backend_tokenizer
    expected = backend.decode(backend.encode(answer, add_special_tokens=False).ids).strip()
    for row, inside in enumerate(texts):
        window, starts, lasts = found.kept[row], found.starts[row], found.lasts[row]
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
    found = token_spans([(start, end)], offsets)
    assert found.tolist() == ([[touched[0], touched[-1]]] if touched else [])


def test_several_places_are_all_right():
    found = made([ReadExample("who", "tolkien wrote a book tolkien", ((0, 7), (21, 28)))])
    (start,), (last,) = found.starts, found.lasts
    assert start.tolist() == last.tolist() == [3, 7]  # [CLS] who [SEP] tolkien ...


def test_a_text_without_an_answer_points_at_cls():
    long = " ".join(["book"] * 100)
    found = made([ReadExample("who", long), ReadExample("who", "")])
    assert len(found.starts) == len(tokenizer().windows([("who", long)], 8).begins) + 1
    assert all(start.tolist() == last.tolist() == [0] for start, last in zip(found.starts, found.lasts, strict=True))


def test_a_share_of_the_other_windows():
    text = "tolkien " + " ".join(["book"] * 200)
    example = ReadExample("who", text, ((0, 7),))
    counts = [len(made([example], share=share).starts) for share in (0.0, 0.5, 1.0)]
    assert counts[0] == 1 and counts[0] < counts[1] < counts[2] == len(tokenizer().windows([("who", text)], 8).begins)
    assert [start.tolist() for start in made([example], share=1.0).starts] == [[3]] + [[0]] * (counts[2] - 1)
    first, again = (made([example], share=0.3, seed=5).kept.tolist() for _ in range(2))
    assert first == again
    assert len({len(made([example], share=0.3, seed=seed).starts) for seed in range(20)}) > 1


def test_a_window_with_a_part_of_the_answer_is_not_learned_from():
    words = ["book"] * 60
    text = " ".join(words)
    window = tokenizer().windows([("who", text)], 8)
    size = int(window.sequences.lengths[0]) - 4  # of the text in a window
    start, end = (size - 1) * 5, (size + 1) * 5 - 1  # the last word of the first window and the one behind
    found = made([ReadExample("who", text, ((start, end),))], share=1.0)
    assert len(window.begins) == 2 and window.begins[1] == size - 8
    assert [start.tolist() for start in found.starts] == [[3 + 7]]


def test_an_answer_of_no_tokens_gives_nothing():
    found = made([ReadExample("who", "the   book", ((4, 5),))], share=1.0)
    assert found.starts == [] and len(found.kept) == 0


# --- steps


@given(st.lists(st.integers(0, 40), min_size=1, max_size=5), st.integers(1, 16), st.integers(1, 4), st.integers(1, 3))
def test_an_epoch_has_each_example_once_and_equal_parts(sizes, batch_size, parts, epoch):
    sets = [[ReadExample(f"{which}", f"{n}") for n in range(size)] for which, size in enumerate(sizes)]
    cut = [mixed_steps(sets, batch_size, parts, (epoch - 1) * parts + part, 7) for part in range(1, parts + 1)]
    assert len({len(part) for part in cut}) == 1
    steps = [step for part in cut for step in part]
    assert Counter(e for step in steps for e in step) == Counter(e for examples in sets for e in examples)
    assert max(map(len, steps)) <= batch_size and max(map(len, steps)) - min(map(len, steps)) <= 1


def test_every_step_is_drawn_over_all_sets_by_their_sizes():
    sets = [[ReadExample(str(which), str(n)) for n in range(size)] for which, size in enumerate((400, 100, 300))]
    for step in mixed_steps(sets, 32, 1, 1, 7):
        shares = np.array([sum(e.question == str(which) for e in step) for which in range(3)])
        assert np.all(np.abs(shares - np.array([16, 4, 12])) <= 3)


def test_the_order_is_another_in_each_epoch_and_seed():
    sets = [[ReadExample("", str(n)) for n in range(50)]]
    assert mixed_steps(sets, 8, 1, 1, 7) == mixed_steps(sets, 8, 1, 1, 7)
    assert mixed_steps(sets, 8, 1, 1, 7) != mixed_steps(sets, 8, 1, 2, 7)
    assert mixed_steps(sets, 8, 1, 1, 7) != mixed_steps(sets, 8, 1, 1, 8)
