"""What the embedded model is given: the texts that are drawn, the windows of a batch, the negatives that it finds itself."""

import random

import pytest

from embedded_examples import LENGTH, examples
from recipes.embedded import batches, mining
from recipes.embedded.examples import Candidate, Example


def several(right, wrong):
    candidates = [Candidate(f"right {n}", relevant=True) for n in range(right)]
    return Example("q", (*candidates, *(Candidate(f"wrong {n}") for n in range(wrong))), "made", "key", "group")


@pytest.mark.parametrize(
    ("right", "wrong", "negatives", "expected"),
    [(3, 5, 2, (1, 2)), (1, 5, 0, (1, 0)), (0, 5, 0, (0, 1)), (3, 1, 9, (1, 1))],
)
def test_one_relevant_text_and_the_hardest_negatives_are_drawn(right, wrong, negatives, expected):
    for seed in range(20):
        drawn = batches.drawn(several(right, wrong), negatives, random.Random(seed)).candidates
        assert [candidate.relevant for candidate in drawn] == [True] * expected[0] + [False] * expected[1]
        assert expected[1] == 0 or drawn[expected[0]].text == "wrong 0"


@pytest.mark.parametrize(
    ("right", "wrong", "most", "expected"),
    [
        (4, 9, 6, ["right 0", "right 1", "right 2", "wrong 0", "wrong 1"]),
        (0, 3, 2, ["wrong 0"]),
        (1, 1, 20, ["right 0", "wrong 0"]),
    ],
)
def test_lists_keep_their_relevant_and_hardest_texts(right, wrong, most, expected):
    drawn = batches.drawn_list(several(right, wrong), most, random.Random(1)).candidates
    assert [candidate.text for candidate in drawn][: len(expected)] == expected
    assert len({candidate.text for candidate in drawn}) == len(drawn) == min(most, right + wrong)


def test_foreign_texts_are_of_other_groups_and_keys():
    batch = [
        Example(f"q{n}", (Candidate(f"text {n}", relevant=True), Candidate("hard")), "made", f"key {n % 5}", f"group {n % 3}")
        for n in range(60)
    ]  # fmt: skip
    owner = {example.candidates[0].text: example for example in batch}
    extended = batches.with_foreign(batch, 1.0, random.Random(1))
    foreign = [(example, candidate) for example in extended for candidate in example.candidates[2:]]
    assert len(foreign) > 20
    for example, candidate in foreign:
        assert (
            not candidate.relevant
            and owner[candidate.text].group != example.group
            and owner[candidate.text].key != example.key
        )


def squeezed(text):
    return "".join(text.lower().split())


@pytest.mark.parametrize("words", [8, 40, 150])
@pytest.mark.parametrize("seed", [None, 0])
def test_exactly_the_answers_tokens_are_marked(checkpoint, tokenizer, words, seed):
    batch = examples(25, words, seed=words)
    made = batches.batch(batch, tokenizer, None if seed is None else random.Random(seed))
    assert made.sizes == [3] * 25
    for row, candidate in enumerate(candidate for example in batch for candidate in example.candidates):
        ids, first, end = made.sequences.ids[row], int(made.firsts[row]), int(made.ends[row])
        assert len(ids) == end + 1 <= LENGTH and made.relevant[row] == candidate.relevant
        marked = [tuple(span) for span in made.spans[row].tolist()]
        if marked == [(0, 0)]:
            assert made.readable[row] == (not candidate.relevant)
            continue
        start, stop = candidate.spans[0]
        pieces, window = tokenizer.ids([candidate.text[start:stop]])[0].tolist(), ids[first:end].tolist()
        places = [at for at in range(len(window)) if window[at : at + len(pieces)] == pieces]
        assert [begin - first for begin, _ in marked] == places  # all of them, wherever they stand
        texts = {squeezed(checkpoint.tokenizer.decode(ids[begin : last + 1].tolist())) for begin, last in marked}
        assert {text.removeprefix("##") for text in texts} == {squeezed(candidate.text[start:stop])}


def test_the_nearest_texts_that_cannot_be_right_come_first(model, tokenizer):
    # equal texts are nearest to each other: what a query says is the text of the next example
    texts = ["the film was made in france", "a song by the band", "kate winslet was born there", "the author wrote it"]
    made = [
        Example(texts[(n + 1) % 4], (Candidate(text, True, ((0, len(text.split()[0])),)), Candidate("far")), "s", "k", f"group {n}")
        for n, text in enumerate(texts)
    ]  # fmt: skip
    mined = mining.with_mined(model, tokenizer, [*made, Example("none", (Candidate("nothing"),), "s", "k")], 1, 4096)
    for number in (1, 2):
        assert [candidate.text for candidate in mined[number].candidates] == [texts[number], texts[number + 1], "far"]
    # the nearest one of the last holds its answer, "the"
    assert mined[3].candidates[1].text != texts[0] and mined[4].candidates == (Candidate("nothing"),)
