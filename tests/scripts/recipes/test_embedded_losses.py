"""What the embedded model is given and minimises: batches, losses, held-out measures, self-training, calibration."""

import random
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.joint import JointOutput
from convinse.encoder.tokens import TextTokenizer
from convinse.encoder.torch_backend import model_inputs
from recipes.embedded import batches, losses, mining, negatives, validation
from recipes.embedded.examples import Candidate, Example
from tiny_models import WORDS, joint, torch

LENGTH = 64  # tokens of a window


@pytest.fixture(scope="module")
def checkpoint():
    return load_checkpoint(joint(), "embedding")


@pytest.fixture
def model():
    """A fresh one: tests change it."""
    return load_checkpoint(joint(), "embedding").model.eval()


@pytest.fixture(scope="module")
def tokenizer(checkpoint):
    return TextTokenizer.of(checkpoint, LENGTH)


def places(text, answer):
    """All places of a word or several in a text."""
    found, start = [], text.find(answer)
    while start >= 0:
        found.append((start, start + len(answer)))
        start = text.find(answer, start + 1)
    return tuple(found)


ANSWERS = ("basquiat", "kate winslet", "1969", "titanic")  # in pieces, two words, digits, one piece
FILLING = [word for word in WORDS if word != "titanic"]


def example(chance, words, number=0, wrong=2, **fields):
    """A question whose answer stands once or more in a text of some words."""
    answer = chance.choice(ANSWERS)
    filling = chance.choices(FILLING, k=words)
    for _ in range(chance.randint(1, 3)):
        filling.insert(chance.randrange(len(filling) + 1), answer)
    text = " ".join(filling)
    negatives = [Candidate(" ".join(chance.choices(FILLING, k=words))) for _ in range(wrong)]
    query = " ".join(chance.choices(FILLING, k=5))
    fields = {"source": "made", "key": f"key {number}", "group": f"group {number}", **fields}
    return Example(query, (Candidate(text, True, places(text, answer)), *negatives), **fields)


def examples(number, words, seed=0, **options):
    chance = random.Random(seed)
    return [example(chance, words, place, **options) for place in range(number)]


# -- what is drawn -----------------------------------------------------------------------------------------------------


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


def test_what_nobody_marked_is_ranked_but_not_read(tokenizer):
    unmarked = Example("who", (Candidate("the film", True, readable=False), Candidate("a song")), "made", "k")
    made = batches.batch([unmarked], tokenizer, None)
    assert made.relevant.tolist() == [True, False] and made.readable.tolist() == [False, True]
    assert [spans.tolist() for spans in made.spans] == [[[0, 0]], [[0, 0]]]
    without_token = Candidate("a \u200b b", True, ((2, 3),))  # the tokenizer has none for it
    dropped = Example("who", (without_token,), "made", "k")
    assert batches.batch([dropped], tokenizer, None).readable.tolist() == [False]


# -- losses ------------------------------------------------------------------------------------------------------------


BUDGET = 200  # tokens: several portions


class Given(torch.nn.Module):
    """Gives the outputs that it is made with, as parameters: for losses whose values are known."""

    device = torch.device("cpu")

    def __init__(self, batch, seed=0, scale=1.0):
        super().__init__()
        self.row_of = {tuple(ids): row for row, ids in enumerate(batch.sequences.ids)}
        assert len(self.row_of) == len(batch.relevant)
        chance = torch.Generator().manual_seed(seed)
        rows, longest = len(batch.relevant), int(batch.sequences.lengths.max())
        self.odds = torch.nn.Parameter(scale * torch.randn(rows, generator=chance))
        self.starts = torch.nn.Parameter(scale * torch.randn(rows, longest, generator=chance))
        self.ends = torch.nn.Parameter(scale * torch.randn(rows, longest, generator=chance))

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        kept = [ids[mask.bool()] for ids, mask in zip(input_ids, attention_mask, strict=True)]
        rows, width = [self.row_of[tuple(ids.tolist())] for ids in kept], input_ids.shape[1]
        starts, ends = self.starts[rows, :width], self.ends[rows, :width]
        return JointOutput(logits=self.odds[rows, None], start_logits=starts, end_logits=ends)


def log_softmax(values):
    return values - np.log(np.exp(values).sum())


def log_likelihood(batch, row, starts, ends):
    """Of the answer of a row, in any of its places."""
    allowed = [0, *range(int(batch.firsts[row]), int(batch.ends[row]))]
    one, two = (log_softmax(array[row, allowed].astype(np.float64)) for array in (starts, ends))
    return np.log(sum(np.exp(one[allowed.index(a)] + two[allowed.index(b)]) for a, b in batch.spans[row].tolist()))


def expected_losses(given, batch):
    """Both losses by their definition."""
    odds, starts, ends = (array.detach().numpy().astype(np.float64) for array in (given.odds, given.starts, given.ends))
    answering = each = row = 0
    for size in batch.sizes:
        rows = range(row, row + size)
        right = [place for place in rows if batch.relevant[place]]
        told = {place: log_likelihood(batch, place, starts, ends) if batch.readable[place] else 0.0 for place in rows}
        whole = 1 + sum(np.exp(odds[place]) for place in rows)
        likely = sum(np.exp(odds[place] + told[place]) for place in right) if right else 1
        answering -= np.log(likely / whole)
        signs = [-1 if place in right else 1 for place in rows]
        each += losses.SURE * np.mean(np.log1p(np.exp(signs * odds[row : row + size])))
        each -= losses.NOTHING * sum(told[place] for place in rows if place not in right)
        row += size
    return answering, each


def unanswerable(number, wrong=2, words=6):
    """A question that none of its texts answers."""
    chance = random.Random(f"unanswerable {number}")
    texts = tuple(Candidate(" ".join(chance.choices(FILLING, k=words))) for _ in range(wrong))
    return Example(f"who {' '.join(chance.choices(FILLING, k=3))}", texts, "made", f"none {number}")


def some_batch(tokenizer):
    unmarked = Example("who who", (Candidate("the film", True, readable=False), Candidate("a song")), "made", "k")
    two_right = Example("who", (Candidate("the film", True, ((4, 8),)), Candidate("a film", True, ((2, 6),)),
                                Candidate("one")), "made", "k")  # fmt: skip
    unanswered = [unanswerable(number, wrong=1 + number) for number in range(3)]
    return batches.batch(
        [*examples(4, 12), unmarked, two_right, *unanswered, *examples(2, 30, wrong=0)], tokenizer, None
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("budget", [1, 100, 10**6])
def test_losses_of_pairs_are_their_definition(tokenizer, seed, budget):
    made = some_batch(tokenizer)
    given = Given(made, seed)
    found = losses.list_losses(given, made, budget)
    assert [loss.item() for loss in found[:2]] == pytest.approx(expected_losses(given, made), rel=1e-5)


def choices(given, batch):
    """Of each example the probabilities of "none" and of each pair of a start and an end in each text."""
    odds, starts, ends = (array.detach().numpy().astype(np.float64) for array in (given.odds, given.starts, given.ends))
    row = 0
    for size in batch.sizes:
        rows = range(row, row + size)
        texts = np.exp(log_softmax(np.append(odds[row : row + size], 0.0)))
        likely = [texts[-1:]]
        for share, place in zip(texts, rows, strict=False):
            allowed = [0, *range(int(batch.firsts[place]), int(batch.ends[place]))]
            start, end = (np.exp(log_softmax(array[place, allowed])) for array in (starts, ends))
            likely.append(share * np.outer(start, end).ravel())
        yield np.concatenate(likely)
        row += size


@pytest.mark.parametrize("budget", [1, 10**6])
def test_a_teacher_is_followed_in_texts_and_spans(tokenizer, budget):
    made = some_batch(tokenizer)
    given, teacher = Given(made, 1), Given(made, 2)
    found = losses.list_losses(given, made, budget, teacher)
    divergence = sum(
        (theirs * np.log(theirs / own)).sum()
        for own, theirs in zip(choices(given, made), choices(teacher, made), strict=True)
    )
    assert found.taught.item() == pytest.approx(divergence, rel=1e-4)
    assert [loss.item() for loss in found[:2]] == pytest.approx(expected_losses(given, made), rel=1e-5)
    assert losses.list_losses(given, made, budget, given).taught.item() == pytest.approx(0, abs=1e-4)
    found.taught.backward()
    assert given.odds.grad.any() and teacher.odds.grad is None


def test_where_no_text_answers_that_is_learned(tokenizer):
    made = batches.batch([unanswerable(0, wrong=2), unanswerable(1, wrong=1)], tokenizer, None)
    given = Given(made)
    answering, each, *_ = losses.list_losses(given, made, BUDGET)
    (answering + each).backward()
    assert (given.odds.grad > 0).all()  # all of them are to be lower
    assert (given.starts.grad[:, 0] < 0).all() and (given.ends.grad[:, 0] < 0).all()  # [CLS] is to be higher
    with torch.no_grad():
        given.starts[:, 0] = given.ends[:, 0] = 50
        given.odds[:] = -50
    assert sum(losses.list_losses(given, made, BUDGET)[:2]).item() == pytest.approx(0, abs=1e-4)


def test_a_text_whose_answer_is_not_marked_is_chosen_and_not_read(model, tokenizer):
    unmarked = Example("who", (Candidate("the film", True, readable=False),), "made", "k")
    answering, each, _, odds = losses.list_losses(model, batches.batch([unmarked], tokenizer, None), BUDGET)
    assert answering.item() == pytest.approx(np.log1p(np.exp(-odds.item())), rel=1e-5)
    (answering + each).backward()
    assert not model.span.weight.grad.any()


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
        (np.exp(log_softmax(wanted)) * (log_softmax(wanted) - log_softmax(own))).sum()
        for own, wanted in zip(cosines, targets, strict=True)
    ]
    assert distillation.item() == pytest.approx(np.mean(divergence), rel=1e-4)


def test_embeddings_are_those_of_the_bi_encoder(model, tokenizer):
    chance = random.Random(3)
    texts = [" ".join(chance.choices(WORDS, k=chance.randint(1, 40))) for _ in range(30)]
    expected = BiEncoder(joint(), "cpu").embed(texts)
    for budget in (1, 100, 10**6):
        found = losses.embed(model, tokenizer.singles(texts), budget)
        np.testing.assert_allclose(found.detach().numpy(), expected, atol=1e-5)
    found.sum().backward()
    assert model.bert.encoder.layer[0].attention.self.query.weight.grad.abs().sum() > 0


# -- held-out examples -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "stop"), [(0, 1), (3, 9), (0, 60), (25, 80)])
def test_the_best_span_is_that_of_all(first, stop):
    for seed in range(20):
        start, end = np.random.default_rng(seed).normal(size=(2, 80)).astype(np.float32)
        spans = [(a, b) for a in range(first, stop) for b in range(a, min(stop, a + 30))]
        best = max(spans, key=lambda span: start[span[0]] + end[span[1]])
        one, two, score = validation.best_spans(start, end, first, stop, 1)[0]
        assert (one, two) == best and score == pytest.approx(start[one] + end[two])
        several = validation.best_spans(start, end, first, stop, 7)
        spans.sort(key=lambda span: -(start[span[0]] + end[span[1]]))
        assert [span[:2] for span in several] == spans[:7]
    start, end = np.zeros((2, 80), dtype=np.float32)
    start[first], end[stop - 1] = 1, 1
    assert validation.best_spans(start, end, first, stop, 1)[0][2] == (
        2 if stop - first <= 30 else 1
    )  # too long an answer


def outputs(model, made):
    rows = np.arange(len(made.relevant))
    with torch.inference_mode():
        found = model(**model_inputs(model, made.sequences, rows, model.device))
    return tuple(array.float().numpy() for array in (found.logits[:, 0], found.start_logits, found.end_logits))


def test_measures_are_shares_of_first_texts_and_f1_of_spans(checkpoint, tokenizer):
    dev = {"one": examples(50, 10), "two": examples(60, 20, seed=5), "alone": examples(3, 10, seed=6, wrong=0)}
    dev["unmarked"] = [Example("who", (Candidate("the film", True, readable=False), Candidate("a song")), "made", "k")]
    expected = {}
    model = checkpoint.model.eval()
    for name, held_out in dev.items():
        made = batches.batch(held_out, tokenizer, None)
        odds, start, end = outputs(model, made)
        first, f1, row = [], [], 0
        for size in made.sizes:
            if size > 1:
                first.append(odds[row] == odds[row : row + size].max())
            if made.readable[row]:
                low, high = int(made.firsts[row]), int(made.ends[row])
                one, two, _ = validation.best_spans(start[row], end[row], low, high, 1)[0]
                found = set(range(one, two + 1))
                wanted = [set(range(a, b + 1)) for a, b in made.spans[row].tolist()]
                f1.append(max(2 * len(found & other) / (len(found) + len(other)) for other in wanted))
            row += size
        expected |= {f"{name} first": np.mean(first)} if first else {}
        expected |= {f"{name} F1": np.mean(f1)} if f1 else {}
    found = validation.validate(model, tokenizer, dev, 4096)
    assert found.keys() == {*expected, "mean"} and "alone first" not in found and "unmarked F1" not in found
    counted = [value for name, value in expected.items() if name.split()[0] in ("one", "two")]
    expected["mean"] = np.mean(counted)
    assert found == pytest.approx(expected, abs=0.05)  # half precision, where it is faster
    assert found == pytest.approx(validation.validate(model, tokenizer, dev, 64), abs=0.05)
    del dev["one"], dev["two"]  # small sets count where there are no others
    assert validation.validate(model, tokenizer, dev, 4096)["mean"] == pytest.approx(found["alone F1"], abs=0.05)


def test_where_nothing_answers_no_answer_is_right(tokenizer):
    dev = {"nothing": [unanswerable(number) for number in range(60)]}
    given = Given(batches.batch(dev["nothing"], tokenizer, None))
    assert 0 < validation.validate(given, tokenizer, dev, 4096)["nothing F1"] < 0.5  # by chance: there are many spans
    for value, share in ((50.0, 1.0), (-50.0, 0.0)):
        with torch.no_grad():
            given.starts[:, 0] = given.ends[:, 0] = value
        assert validation.validate(given, tokenizer, dev, 4096) == {"nothing F1": share, "mean": share}


# -- calibration -------------------------------------------------------------------------------------------------------


def order(values):
    return np.argsort(-values, kind="stable").tolist()


def negative_log_likelihoods(model, made):
    odds, start, end = outputs(model, made)
    each = np.logaddexp(0, np.where(made.relevant, -odds, odds))
    read = []
    for row in np.cumsum([0, *made.sizes])[:-1]:
        best = validation.best_spans(start[row], end[row], int(made.firsts[row]), int(made.ends[row]), 5)
        scores = np.array([*(score for *_, score in best), start[row, 0] + end[row, 0]])
        share = np.exp(scores[0] - scores.max()) / np.exp(scores - scores.max()).sum()
        right = best[0][:2] in [tuple(span) for span in made.spans[row].tolist()]
        read.append(-np.log(share if right else 1 - share))
    return each.mean(), np.mean(read)


def judged(model, tokenizer, wrong):
    """Examples that agree with the model; those for whose number `wrong` holds say the opposite."""
    texts = [" ".join(random.Random(seed).choices(WORDS, k=8)) for seed in range(80)]
    candidates = tuple(Candidate(text, relevant=True) for text in texts)
    ranked = batches.batch([Example("who", candidates, "s", "k")], tokenizer, None)
    best_first = [texts[place] for place in order(outputs(model, ranked)[0])]
    made = []
    for number in range(40):
        right, other = best_first[number], best_first[-1 - number]
        if wrong(number):
            right, other = other, right
        alone = batches.batch([Example("who", (Candidate(right, relevant=True),), "s", "k")], tokenizer, None)
        _, start, end = outputs(model, alone)
        first, stop = int(alone.firsts[0]), int(alone.ends[0])
        begin, last, _ = validation.best_spans(start[0], end[0], first, stop, 1)[0]
        if wrong(number):
            begin = last = first + int(np.argmin(start[0, first:stop] + end[0, first:stop]))
        offsets = alone.offsets[0]
        span = int(offsets[begin - first, 0]), int(offsets[last - first, 1])
        made.append(Example("who", (Candidate(right, True, (span,)), Candidate(other)), "s", "k"))
    return made


@pytest.mark.parametrize("wrong", [5, 1])
def test_calibration_keeps_orders_and_lowers_the_losses(model, tokenizer, wrong):
    """One answer of five is wrong; a model all of whose answers are wrong is made unsure, not turned around."""
    dev = judged(model, tokenizer, lambda number: number % wrong == 0)
    made = batches.batch(dev, tokenizer, None)
    before, losses_before = outputs(model, made), negative_log_likelihoods(model, made)
    found = validation.calibrate(model, tokenizer, dev)
    after, losses_after = outputs(model, made), negative_log_likelihoods(model, made)
    assert order(after[0].round(4)) == order((before[0] * found["scale"]).round(4))
    for one, other in zip(after[1:], before[1:], strict=True):
        assert (one.argmax(axis=1) == other.argmax(axis=1)).all()
    if wrong == 1:
        assert 0 < found["scale"] < 0.5 and 0 < found["sharpness"] < 0.5
        return
    assert found.keys() == {"scale", "bias", "sharpness"} and min(found["scale"], found["sharpness"]) > 0.06
    np.testing.assert_allclose(after[0], before[0] * found["scale"] + found["bias"], atol=1e-4, rtol=1e-3)
    for one, other in zip(after[1:], before[1:], strict=True):
        np.testing.assert_allclose(one, other * found["sharpness"], atol=1e-4, rtol=1e-3)
    assert losses_after[0] < losses_before[0] - 0.1 and losses_after[1] < losses_before[1] - 0.1
    again = validation.calibrate(model, tokenizer, dev)
    assert again == pytest.approx({"scale": 1, "bias": 0, "sharpness": 1}, abs=0.05)  # there is no more to gain


def test_a_text_without_an_answer_makes_spans_less_sure(model, tokenizer):
    answered = judged(model, tokenizer, lambda number: False)
    nothing = [replace(one, candidates=(Candidate(one.candidates[0].text),)) for one in answered]
    unsure = load_checkpoint(joint(), "embedding").model.eval()
    sure = validation.calibrate(model, tokenizer, answered)["sharpness"]
    assert validation.calibrate(unsure, tokenizer, [*answered, *nothing])["sharpness"] < sure


# -- negatives of the model itself, the embedding's order ----------------------------------------------------------------


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
