"""The extractive reader beside transformers' own forward pass and all spans by brute force."""

import random
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convinse.encoder.extractive_reader import ExtractiveReader
from tiny_models import WORDS, Counted, tiny, torch, transformers

QA = "question-answering"
KINDS = ["bert", "roberta", "distilbert"]
QUESTION = "who wrote the hobbit"
EVERYTHING = 10**6


def texts(number, seed=0, most=40):
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, most))) for _ in range(number)]


CONTEXTS = [
    *texts(12),
    "The Hobbit, by J. R. R. Tolkien (1937)",
    "город Толстой",
    "中文字的 😀 the author",
    "cafe\u0301 and the nai\u0308ve book",
    "the author\r\nof the\r\n\r\nbook\t is  Tolkien\n",
    *texts(2, 1, 300),
]


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def readers():
    made = {}

    def get(kind="bert", **options):
        key = (kind, tuple(sorted(options.items())))
        if key not in made:
            made[key] = ExtractiveReader(tiny(kind, task=QA), "cpu", **options)
        return made[key]

    return get


class Reference:
    """What transformers computes of a checkpoint, one window at a time, and all spans of it by brute force."""

    def __init__(self, folder):
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder).eval()

    def spans(self, question, context, max_length, stride, longest, best=20):
        """{(start, end): score} of the best of each window, and the lowest score of [CLS]."""
        found, nulls = {}, []
        windows = self.tokenizer(
            [question], [context], truncation="only_second", max_length=max_length, stride=stride,
            return_overflowing_tokens=True, return_offsets_mapping=True,
        )  # fmt: skip
        for number in range(len(windows["input_ids"])):
            names = [name for name in self.tokenizer.model_input_names if name in windows]
            with torch.inference_mode():
                output = self.model(**{name: torch.tensor([windows[name][number]]) for name in names})
            start, end = output.start_logits[0].numpy(), output.end_logits[0].numpy()
            nulls.append(start[0] + end[0])
            inside = [place for place, part in enumerate(windows.sequence_ids(number)) if part == 1]
            offsets = windows["offset_mapping"][number]
            scores = {
                (first, last): start[first] + end[last]
                for first in inside
                for last in range(first, min(first + longest, inside[-1] + 1))
            }
            for first, last in sorted(scores, key=scores.get, reverse=True)[:best]:
                span = tidy(context, offsets[first][0], offsets[last][1])
                if span is not None:
                    found[span] = max(found.get(span, -np.inf), scores[first, last])
        return found, min(nulls)


def tidy(text, start, end):
    """A span without the blanks at its ends and with all marks of its letters; None for nothing but blanks."""
    while 0 < start < end and unicodedata.category(text[start]).startswith("M"):
        start -= 1
    while start < end < len(text) and unicodedata.category(text[end]).startswith("M"):
        end += 1
    stripped = text[start:end].strip()
    if not stripped:
        return None
    start = text.index(stripped, start)
    return start, start + len(stripped)


@pytest.mark.parametrize(
    ("max_length", "stride", "longest", "best"),
    [(512, 128, 30, 20), (64, 16, 5, 20), (64, 0, 1, 20), (48, 15, 8, 20), (64, 20, 4, EVERYTHING)],
)
def test_spans_are_the_best_of_all_that_transformers_computes(readers, kind, max_length, stride, longest, best):
    reference = Reference(tiny(kind, task=QA))
    reader = readers(kind, max_length=max_length, stride=stride, max_answer_length=longest, best=best)
    contexts = CONTEXTS[8:] if max_length < 512 else CONTEXTS[:-1:3]
    all_spans = reader.read(QUESTION, contexts)
    for number, context in enumerate(contexts):
        scores, null = reference.spans(QUESTION, context, max_length, stride, longest, best)
        expected = sorted(scores.values(), reverse=True)[:best]
        spans = [span for span in all_spans if span.context == number]
        np.testing.assert_allclose([span.score for span in spans], expected, atol=1e-4)
        for span in spans:
            assert scores[span.start, span.end] == pytest.approx(span.score, abs=1e-4)
            assert span.text == context[span.start : span.end]
        shares = np.exp(np.array([*expected, null], dtype=float) - expected[0])
        np.testing.assert_allclose([span.probability for span in spans], shares[:-1] / shares.sum(), atol=1e-4)
        assert spans[0].no_answer == pytest.approx(1 / (1 + np.exp(expected[0] - null)), abs=1e-4)
        assert len({span.no_answer for span in spans}) == 1
    assert [span.score for span in all_spans] == sorted((span.score for span in all_spans), reverse=True)


SIGNS = st.sampled_from("\r\n\t \u00a0\u200d\ufe0f\u0301\u0308\u094d😀👍🏽👩🇩🇪éñßİǅ中ब[]#")
UNICODE = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), SIGNS), max_size=40)


@pytest.mark.parametrize("name", ["bert", "roberta"])
@settings(max_examples=40)
@given(before=UNICODE, after=UNICODE)
def test_offsets_count_in_the_text_as_written(readers, name, before, after):
    context = f"{before} hobbit {after}"
    found = readers(name, best=EVERYTHING).read("who\u0301 wrote it 😀", [context])
    places = {(span.start, span.end) for span in found}
    start = len(before) + 1
    behind = unicodedata.category(context[start + 6 : start + 7] or " ")
    assert (start, start + len("hobbit")) in places or behind[0] == "M"
    for span in found:
        assert 0 <= span.start < span.end <= len(context)
        assert span.text == context[span.start : span.end] == span.text.strip() != ""
        assert span.end == len(context) or unicodedata.category(context[span.end])[0] != "M"


def test_half_of_a_surrogate_pair_is_no_error(readers, kind):
    found = readers(kind, best=EVERYTHING).read("who \udc00", ["the \ud800 author"])
    assert {span.text for span in found} >= {"the", "author", "the \ud800 author"}


def test_contexts_without_words_have_no_spans(readers):
    reader = readers()
    assert reader.read(QUESTION, []) == [] == reader.read_all([], [])
    assert reader.read(QUESTION, ["", " ", "\r\n\t", "\u00a0", "\u200b\u00ad"]) == []
    found = reader.read(QUESTION, ["", "the author", "  "])
    assert {span.context for span in found} == {1}
    assert reader.read("", ["the author"])[0].text in ("the", "author", "the author")


def test_best_spans_of_each_context_and_of_all_are_returned(readers):
    reader = readers()
    everything = reader.read(QUESTION, CONTEXTS)
    assert reader.read(QUESTION, CONTEXTS, top_k=7) == everything[:7]
    assert [len(found) for found in reader.read_all(["who", "when"], [CONTEXTS, CONTEXTS[:1]], top_k=3)] == [3, 3]
    assert len({span.context for span in everything[:40]}) > 1


def test_long_question_leaves_room_for_the_whole_context(readers, kind):
    reader = readers(kind, max_length=64, stride=8, best=EVERYTHING, max_answer_length=3)
    counted = Counted(reader.engine)
    context = " ".join(WORDS)
    found = reader.read(" ".join(WORDS * 5), [context])
    assert max(batch.shape[1] for batch in counted.batches) == 64
    covered = sorted({(span.start, span.end) for span in found})
    assert covered[0][0] == 0 and max(end for _, end in covered) == len(context)  # nothing of the context is left out
    assert all(later[0] - sooner[0] < 20 for sooner, later in pairwise(covered))
