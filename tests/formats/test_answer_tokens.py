"""Tokens with offsets in any script, and answers found where they stand."""

import re

from hypothesis import given
from hypothesis import strategies as st

from case_tables import each_case
from convinse.formats.tokens import TokenizedText, normalize, tokenize

# letters, digits, blanks, punctuation, combining marks, emoji with modifiers, flags, Han, Devanagari, Hangul, marks of MRQA
PIECES = st.sampled_from(
    ["a", "The ", "an", "é", "e\u0301", "\u0301", "İ", "ß", "Σ", "7", "3.5", "35,000", " ", "\r\n", "\n\n", "\u3000", "\u2028",
     ".", ",", "'s", "-", "–", "(", "\"", "[PAR]", "[TLE] ", "[DOC]", "[PAR", "👍🏽", "👩\u200d👩\u200d👧", "❤\ufe0f", "🇩🇪", "🇩", "日本",
     "カ", "हिन्दी", "서울은", "\u200d", "\u200c", "\x00", "_", "#\ufe0f\u20e3", "𝔘", "𠀀", "ก็", "U.S.", "\t"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=30)


@given(TEXTS)
def test_tokens_cover_all_but_blanks_at_their_offsets(text):
    at = 0
    for token, offset in tokenize(text):
        assert token and text[offset : offset + len(token)] == token
        assert offset >= at and not text[at:offset].strip()
        assert not re.search(r"\s", token)
        at = offset + len(token)
    assert not text[at:].strip()


@given(TEXTS, TEXTS)
def test_text_before_a_blank_does_not_change_the_tokens_behind_it(before, text):
    begin = len(before) + 1
    behind = [(token, offset - begin) for token, offset in tokenize(f"{before}\n{text}") if offset >= begin]
    assert behind == tokenize(text)


@each_case("tokens", "tokens")
def test_text_is_cut_into_tokens(case):
    assert [token for token, _ in tokenize(case["text"])] == case["tokens"]


@given(TEXTS, st.integers(0, 40), st.integers(0, 40))
def test_a_span_of_tokens_has_every_character_of_a_span(text, first, last):
    found = TokenizedText(text)
    start, end = sorted((min(first, len(text)), min(last, len(text))))
    span = found.token_span(start, end)
    touched = [i for i, (token, at) in enumerate(found.tokens) if at <= end and at + len(token) - 1 >= start]
    assert span == ((touched[0], touched[-1]) if touched else None)


@given(TEXTS, TEXTS, TEXTS)
def test_answer_between_blanks_is_found(before, answer, after):
    answer = answer.strip()
    text = f"{before} {answer}\r\n{after}"
    places = TokenizedText(text).find(answer)
    if answer:
        assert any(start == len(before) + 1 and text[start : end + 1] == answer for start, end in places)
    else:
        assert places == []


@given(TEXTS, TEXTS)
def test_places_of_an_answer_are_whole_tokens_that_equal_it(text, answer):
    found = TokenizedText(text)
    places = found.find(answer)
    assert places == sorted(set(places))
    for start, end in places:
        first, last = found.token_span(start, end)
        assert found.tokens[first][1] == start and found.tokens[last][1] + len(found.tokens[last][0]) - 1 == end
        assert text[start : end + 1] == answer.strip() or normalize(text[start : end + 1]) == normalize(answer)


@given(st.lists(PIECES, max_size=8).map("".join), st.data())
def test_answer_on_token_borders_is_never_missed(text, data):
    """Against every span of tokens, one by one."""
    found = TokenizedText(text)
    if not found.tokens:
        return
    first = data.draw(st.integers(0, len(found.tokens) - 1))
    last = data.draw(st.integers(first, len(found.tokens) - 1))
    answer = text[found.starts[first] : found.ends[last] + 1]
    expected = [
        (i, j)
        for i in range(len(found.tokens))
        for j in range(i, len(found.tokens))
        if text[found.starts[i] : found.ends[j] + 1] == answer
    ]
    assert [found.token_span(*place) for place in found.find(answer)] == expected


@each_case("tokens", "answer")
def test_answer_is_found_on_the_borders_of_tokens(case):
    text = case["text"]
    assert [text[start : end + 1] for start, end in TokenizedText(text).find(case["answer"])] == case["found"]
