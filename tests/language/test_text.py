"""Folding and stems; the cases are in tests/cases/folding.yml."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from case_tables import each_case
from convinse.language.language import english
from convinse.language.text import END, fold, folded_words, listed, words

WORDS = english().words
NAMES = st.text(alphabet=st.sampled_from(list("aZé 's’.&-_Jß1İ")), max_size=20) | st.text(max_size=20)


@given(NAMES)
@example("J. R. R. Tolkien's & Sons")
@example("a b c’s d")
def test_a_folded_name_is_lower_case_words_with_one_blank_between_and_folds_to_itself(text):
    folded = fold(text)
    assert fold(folded) == folded == folded.casefold()
    assert re.fullmatch(r"(?:\w+(?: \w+)*)?", folded)
    assert WORDS.stems(text) == WORDS.stems(folded)


@given(st.text(alphabet="abcXYZ '&.", max_size=20))
def test_case_does_not_count(text):
    assert fold(text.upper()) == fold(text.lower()) == fold(text)


@each_case("folding", "names")
def test_spellings_of_one_name_fold_to_the_same_words(case):
    assert (len({fold(name) for name in case["names"]}) == 1) is case["same"]


@each_case("folding", "folded")
def test_characters_of_all_kinds(case):
    assert fold(case["text"]) == case["folded"]


def test_half_of_a_character_and_signs_alone_fold_to_nothing():
    assert fold("lone \ud800 surrogate") == "lone surrogate"
    assert fold("") == fold(" .!?' ") == ""


@given(st.lists(NAMES | st.text(alphabet="aΣ b\0\n\r\u2028.'s\u0301", max_size=8), max_size=6))
@example(["a", "b c", "", "d"])  # no initials across texts
@example(["x\0y", "’", "'s"])
def test_texts_folded_together_are_folded_as_each_alone(texts):
    assert folded_words(texts) == [word for text in texts for word in (*fold(text).split(), END)]


def test_words_are_cut_as_written():
    assert words("Don't ask, he’s Gödel!") == ["Don't", "ask", "he’s", "Gödel"]


STOP_WORDS = sorted(word for word in WORDS.stop_words if len(word) > 1)


@given(st.lists(st.sampled_from([*STOP_WORDS, "album", "films"]), max_size=8))
def test_stop_words_have_no_stems_unless_wanted(tokens):
    text = " | ".join(tokens)
    assert WORDS.stems(text) == [WORDS.stem(token) for token in tokens if token not in WORDS.stop_words]
    assert len(WORDS.stems(text, keep_stop_words=True)) == len(tokens)


def test_words_that_carry_the_question_have_stems_and_name_nothing():
    words_ = ["first", "film", "after", "last", "before", "most", "more"]
    found = WORDS.stems("the first film after it, and the last before most more")
    assert found == [WORDS.stem(word) for word in words_]
    assert WORDS.telling.isdisjoint(WORDS.stop_words) and WORDS.common == WORDS.telling | WORDS.stop_words
    assert WORDS.telling < WORDS.not_names


def test_forms_of_a_word_share_their_stem():
    assert len({WORDS.stem(word) for word in ("direct", "directed", "directing", "directs")}) == 1
    found = WORDS.stems("the directed films of Beyoncé")
    assert found == [WORDS.stem(word) for word in ("directed", "film", "beyonce")]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["A"], "A"),
        (["A", "B"], "A and B"),
        (["A", "B", "C"], "A, B and C"),
        (["Test of Balu", "Test of Balu, second"], "Test of Balu; and Test of Balu, second"),
        (["A, x", "B", "C"], "A, x; B; and C"),
        (["A, x"], "A, x"),
    ],
)
def test_names_are_listed_as_people_write_them(names, text):
    assert listed(names) == text
