"""Tokens of pairs and single texts: those of transformers, cut to a length, found once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.tokens import TextTokenizer
from convinse.support.errors import ModelError
from tiny_models import WORDS, byte_pairs, tiny, word_pieces

TEXTS = [
    "", " ", "the hobbit", "The Hobbit, author, J. R. R. Tolkien", "中文字的 город", "Толстой написал роман", "naïve café",
    "😀 the 👩‍👩‍👧 film", "a\u200bb\u0301", "one, two. " * 300, "#" * 700, "\x00\x07 tab\tand\nline", "[SEP] [CLS] <s> </s>",
]  # fmt: skip
QUERIES = ["", "who directed titanic", "|| The Hobbit || wrote || person", "город 😀"]
BOTH = pytest.mark.parametrize("make", [word_pieces, byte_pairs])


def parts(make, max_length):
    theirs = make()
    return TextTokenizer(make().backend_tokenizer, max_length, theirs.pad_token_id), theirs


def check_same(sequences, expected):
    """Check that the sequences, each alone in a batch, are those of transformers' tokenizer."""
    for place, rows in enumerate(expected):
        ids, mask, types = sequences.padded(np.array([place]))
        assert ids[0].tolist() == rows["input_ids"]
        assert mask[0].tolist() == rows["attention_mask"]
        assert types[0].tolist() == rows.get("token_type_ids", [0] * len(types[0]))


def pair_of(tokenizer, pair, max_length):
    """A pair by transformers; as lists, for in a call of its own an empty second text counts as none."""
    rows = tokenizer([pair[0]], [pair[1]], truncation="only_second", max_length=max_length)
    return {name: values[0] for name, values in rows.items()}


@BOTH
@pytest.mark.parametrize("max_length", [64, 80, 200])
def test_pairs_alone_and_padded_and_single_texts_equal_transformers(make, max_length):
    ours, theirs = parts(make, max_length)
    pairs = [(query, text) for query in QUERIES for text in TEXTS]
    sequences = ours.pairs(pairs)
    check_same(sequences, [pair_of(theirs, pair, max_length) for pair in pairs])
    assert sequences.lengths.max() == max_length
    options = {"truncation": "only_second", "max_length": max_length, "padding": True}
    expected = theirs([query for query, _ in pairs], [text for _, text in pairs], **options)
    ids, mask, types = sequences.padded(np.arange(len(pairs)))
    assert ids.tolist() == expected["input_ids"] and mask.tolist() == expected["attention_mask"]
    assert types.tolist() == expected.get("token_type_ids", np.zeros_like(ids).tolist())
    check_same(ours.singles(TEXTS), [theirs(text, truncation=True, max_length=max_length) for text in TEXTS])


PARTS = {make: parts(make, 128) for make in (word_pieces, byte_pairs)}


@BOTH
@given(first=st.text(max_size=12), second=st.text(max_size=300))
def test_any_pair_equals_transformers(make, first, second):
    ours, theirs = PARTS[make]
    check_same(ours.pairs([(first, second)]), [pair_of(theirs, (first, second), 128)])


@pytest.mark.parametrize("words", [29, 45 - 16, 45 - 15, 45, 46, 100])
@pytest.mark.parametrize("left", [0, 3, 15, 16, 17, 100])
def test_the_query_is_cut_only_where_it_leaves_fewer_than_16_tokens(words, left):
    """48 tokens, of which 45 are for the two texts."""
    tokenizer = word_pieces()
    numbers = WORDS[-10:]
    query = [numbers[n % 10] for n in range(words)]
    ours = TextTokenizer(tokenizer.backend_tokenizer, 48, 0)
    sequences = ours.pairs([(" ".join(query), " ".join(["hobbit"] * left))])
    found = tokenizer.convert_ids_to_tokens(sequences.ids[0].tolist())
    middle = found.index("[SEP]")
    first, second = found[1:middle], found[middle + 1 : -1]
    assert len(found) <= 48
    assert second == ["hobbit"] * len(second)
    assert len(second) == min(left, 45 - len(first))
    assert first == query[words - len(first) :]  # the end stays
    assert len(first) == (words if words + min(left, 16) <= 45 else 45 - min(left, 16))
    assert sequences.firsts[0] == len(first) + 2


class Counting:
    """A tokenizer that notes what it is given."""

    def __init__(self, tokenizer):
        self.tokenizer, self.seen = tokenizer, []

    def __getattr__(self, name):
        return getattr(self.tokenizer, name)

    def encode_batch_fast(self, texts, **options):
        self.seen.extend(texts)
        return self.tokenizer.encode_batch_fast(texts, **options)

    def encode_batch(self, texts, **options):
        self.seen.extend(texts)
        return self.tokenizer.encode_batch(texts, **options)


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
def test_max_length_is_lowered_to_the_model_s(kind):
    assert TextTokenizer.of(load_checkpoint(tiny(kind), "sequence-classification"), 10_000).max_length == 512
    assert TextTokenizer.of(load_checkpoint(tiny(kind), "sequence-classification"), 100).max_length == 100


def test_too_few_tokens_are_refused():
    with pytest.raises(ModelError, match="at most 34 tokens leave no room .* at least 35"):
        TextTokenizer(word_pieces().backend_tokenizer, 34, 0)
    TextTokenizer(word_pieces().backend_tokenizer, 35, 0)


def test_a_text_is_tokenised_once():
    counting = Counting(word_pieces().backend_tokenizer)
    ours = TextTokenizer(counting, 64, 0)
    ours.pairs([("one", "two"), ("one", "three"), ("two", "three")])
    ours.singles(["three", "four"])
    assert counting.seen == ["one", "two", "three", "four"]


def test_offsets_are_found_once_and_belong_to_the_tokens():
    counting = Counting(word_pieces().backend_tokenizer)
    ours = TextTokenizer(counting, 64, 0)
    found = ours.offsets(TEXTS)
    assert len(counting.seen) == len(TEXTS)
    windows = ours.windows([("", text) for text in TEXTS], 4)
    assert counting.seen == [*TEXTS, ""]  # the question
    for text, mine, ids, of_window in zip(TEXTS, found, ours.ids(TEXTS), windows.offsets, strict=True):
        encoding = word_pieces()(text, add_special_tokens=False, return_offsets_mapping=True)
        assert mine.tolist() == of_window.tolist() == [list(pair) for pair in encoding["offset_mapping"]]
        assert ids.tolist() == encoding["input_ids"]
