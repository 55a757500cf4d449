"""What the embedded model is given: the texts that are drawn, the windows of a batch, the negatives that it finds itself."""

import random
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from convinse.encoder.bi_encoder import BiEncoder
from embedded_examples import LENGTH, examples
from recipes.embedded import batches, mining, negatives
from recipes.embedded.examples import Candidate, Example
from tiny_models import WORDS, joint

# -- texts that are drawn -----------------------------------------------------------------------------------------------


def several(right, wrong):
    candidates = [Candidate(f"right {n}", relevant=True) for n in range(right)]
    return Example("q", (*candidates, *(Candidate(f"wrong {n}") for n in range(wrong))), "made", "key", "group")


@pytest.mark.parametrize(("right", "wrong", "negatives"), list(product((0, 1, 3), (1, 5), (0, 1, 2, 9))))
def test_one_relevant_text_and_the_hardest_negatives_are_drawn(right, wrong, negatives):
    given, seen = several(right, wrong), Counter()
    for seed in range(60):
        found = batches.drawn(given, negatives, random.Random(seed))
        texts = [candidate.text for candidate in found.candidates]
        hard = min(wrong, negatives if right else max(1, negatives))
        relevant = [candidate.relevant for candidate in found.candidates]
        assert relevant == [True] * min(right, 1) + [False] * hard and len(set(texts)) == len(texts)
        assert not hard or texts[min(right, 1)] == "wrong 0"
        seen.update(texts)
    drawn = negatives if right else max(1, negatives)
    assert len(seen) == right + (drawn if drawn < 2 else wrong)  # each of them at some time


@pytest.mark.parametrize(("right", "wrong", "most"), list(product((0, 1, 4), (1, 3, 9), (1, 2, 6, 20))))
def test_lists_keep_their_relevant_and_hardest_texts(right, wrong, most):
    given = several(right, wrong)
    for seed in range(9):
        texts = [candidate.text for candidate in batches.drawn_list(given, most, random.Random(seed)).candidates]
        kept = min(right, max(1, most // 2))
        room = min(wrong, max(0, most - kept))
        assert texts[:kept] == [f"right {n}" for n in range(kept)] and len(set(texts)) == len(texts) == kept + room
        assert texts[kept:][: (max(0, most - kept) + 1) // 2] == [
            f"wrong {n}" for n in range(min(room, (max(0, most - kept) + 1) // 2))
        ]


def test_foreign_texts_are_of_other_groups_and_keys():
    chance = random.Random(4)
    given = []
    for number in range(60):
        text = Candidate(f"text {number % 50}", relevant=True)  # ten texts twice
        own = (text, Candidate("hard"))
        given.append(Example(f"q{number}", own, "made", f"key {chance.randrange(9)}", f"group {chance.randrange(9)}"))
    added = 0
    for seed in range(20):
        found = batches.with_foreign(given, 1.0, random.Random(seed))
        assert len(found) == len(given)
        for before, after in zip(given, found, strict=True):
            assert (after.query, after.key, after.group) == (before.query, before.key, before.group)
            assert after.candidates[:2] == before.candidates
            for more in after.candidates[2:]:
                added += 1
                assert not more.relevant and not more.spans
                assert more.text not in {candidate.text for candidate in before.candidates}
                assert any(
                    other.candidates[0].text == more.text and other.group != before.group and other.key != before.key
                    for other in given
                )
            assert len(after.candidates) <= 3
    assert added > 0.5 * 20 * 60


# -- windows -----------------------------------------------------------------------------------------------------------


def squeezed(text):
    return "".join(text.lower().split())


def words_of(checkpoint, ids):
    return squeezed(checkpoint.tokenizer.decode(ids.tolist()).removeprefix("##"))  # a window may begin within a word


def rows(given):
    return [(one.query, candidate) for one in given for candidate in one.candidates]


@pytest.mark.parametrize("words", [8, 40, 150])
@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_exactly_the_answers_tokens_are_marked(checkpoint, tokenizer, words, seed):
    given = examples(25, words, seed=words)
    made = batches.batch(given, tokenizer, None if seed is None else random.Random(seed))
    sequences = made.sequences
    assert made.sizes == [3] * 25 and len(made.spans) == len(sequences.ids) == len(sequences.lengths) == 75
    special = checkpoint.tokenizer
    for row, (query, candidate) in enumerate(rows(given)):
        ids, first, end = sequences.ids[row], int(made.firsts[row]), int(made.ends[row])
        assert len(ids) == sequences.lengths[row] == end + 1 <= LENGTH and sequences.firsts[row] == first
        assert ids[0] == special.cls_token_id and ids[first - 1] == ids[end] == special.sep_token_id
        assert words_of(checkpoint, ids[1 : first - 1]) == squeezed(query)
        text = words_of(checkpoint, ids[first:end])
        assert text in squeezed(candidate.text)
        if len(tokenizer.ids([candidate.text])[0]) <= LENGTH - first - 1:
            assert text == squeezed(candidate.text)
        assert made.relevant[row] == candidate.relevant
        marked = [tuple(span) for span in made.spans[row].tolist()]
        if marked == [(0, 0)]:
            assert made.readable[row] == (not candidate.relevant)
            continue
        assert candidate.relevant and made.readable[row]
        start, stop = candidate.spans[0]
        answer = squeezed(candidate.text[start:stop])
        assert all(first <= one <= two < end for one, two in marked) and len(set(marked)) == len(marked)
        assert {words_of(checkpoint, ids[one : two + 1]) for one, two in marked} == {answer}
        pieces = tokenizer.ids([candidate.text[start:stop]])[0].tolist()
        window = ids[first:end].tolist()
        held = [at for at in range(len(window)) if window[at : at + len(pieces)] == pieces]
        assert [one - first for one, _ in marked] == held  # all of them, wherever they stand


def test_a_window_with_the_answer_is_learned_from_mostly(tokenizer):
    given = examples(60, 150, wrong=0)
    assert batches.batch(given, tokenizer, None).readable.all()
    shares = [batches.batch(given, tokenizer, random.Random(seed)).readable.mean() for seed in range(10)]
    assert 0.75 < np.mean(shares) < 0.98
    windows = {
        tuple(batches.batch(given[:1], tokenizer, random.Random(seed)).sequences.ids[0].tolist()) for seed in range(30)
    }
    assert len(windows) > 1  # not always the same of several


def test_a_text_whose_answer_is_not_marked_is_ranked_but_not_read(tokenizer):
    unmarked = Example("who", (Candidate("the film", True, readable=False), Candidate("a song")), "made", "k")
    made = batches.batch([unmarked], tokenizer, None)
    assert made.relevant.tolist() == [True, False] and made.readable.tolist() == [False, True]
    assert [spans.tolist() for spans in made.spans] == [[[0, 0]], [[0, 0]]]
    without_token = Candidate("a \u200b b", True, ((2, 3),))  # the tokenizer has none for it
    dropped = Example("who", (without_token,), "made", "k")
    assert batches.batch([dropped], tokenizer, None).readable.tolist() == [False]


# -- negatives that the model finds itself ------------------------------------------------------------------------------


def test_the_nearest_texts_that_cannot_be_right_come_first(model, tokenizer):
    texts = [" ".join(random.Random(seed).choices(WORDS, k=6)) for seed in range(12)]
    answer = texts[0].split()[0]
    texts[1] = f"{answer} {texts[1]}"  # holds the answer
    made = [
        Example(f"who {number}", (Candidate(text, True, ((0, len(text.split()[0])),)), Candidate("the far one")), "s", "k",
                f"group {number // 2 if number > 1 else number}")
        for number, text in enumerate(texts)
    ]  # fmt: skip
    made.append(replace(made[0], candidates=(Candidate(texts[3], True),), group="other"))  # the same query
    made.append(Example("none", (Candidate("nothing"),), "s", "k", "none"))
    found = mining.with_mined(model, tokenizer, made, 4, 4096)
    assert found[-1] == made[-1] and [one.query for one in found] == [one.query for one in made]
    encoder = BiEncoder(joint(), "cpu")
    for before, after in zip(made[:12], found[:12], strict=True):
        free = [
            other.candidates[0].text for other in made[:12]
            if other.group != before.group
            and not negatives.holds(other.candidates[0].text, [before.candidates[0].text.split()[0]])
            and not (before.query == "who 0" and other.candidates[0].text == texts[3])
        ]  # fmt: skip
        cosines = encoder.embed(free) @ encoder.embed([before.query])[0]
        best = [free[place] for place in np.argsort(-cosines, kind="stable")[:4]]
        assert after.candidates[0] == before.candidates[0]
        mined = [candidate.text for candidate in after.candidates[1:5]]
        assert len(set(mined) & set(best)) >= 3  # bf16 may swap neighbours
        assert "the far one" in [candidate.text for candidate in after.candidates[1:]]
        assert len({candidate.text for candidate in after.candidates}) == len(after.candidates)
    assert mining.with_mined(model, tokenizer, made[-1:], 4, 4096) == made[-1:]
