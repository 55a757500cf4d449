import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from convinse.language.language import english
from convinse.language.text import END, fold, folded_words, words

WORDS = english().words
NAMES = st.text(alphabet=st.sampled_from(list("aZé 's’.&-_Jß1İ")), max_size=20) | st.text(max_size=20)


@given(NAMES)
@example("J. R. R. Tolkien's & Sons")
@example("a b c’s d")
def test_folding_twice_is_folding_once(text):
    assert fold(fold(text)) == fold(text)


@given(NAMES)
def test_a_folded_name_is_words_with_one_blank_between(text):
    folded = fold(text)
    assert re.fullmatch(r"(?:\w+(?: \w+)*)?", folded)
    assert folded == folded.casefold()


@given(st.text(alphabet="abcXYZ '&.", max_size=20))
def test_case_does_not_count(text):
    assert fold(text.upper()) == fold(text.lower()) == fold(text)


@pytest.mark.parametrize(
    "spellings",
    [
        ("J. R. R. Tolkien", "J.R.R. Tolkien", "JRR Tolkien", "j r r tolkien"),
        ("Beyoncé", "beyonce", "BEYONCE\u0301"),
        ("Björk", "bjork", "BJO\u0308RK"),
        ("Simon & Garfunkel", "Simon and Garfunkel"),
        ("Tolkien's", "Tolkien’s", "tolkien"),
        ("Spider-Man", "spider man", "  Spider –  Man! "),
        ("O'Brien", "O’Brien", "OBrien"),
        ("Straße", "STRASSE"),
    ],
)
def test_spellings_of_one_name(spellings):
    assert len({fold(name) for name in spellings}) == 1


@pytest.mark.parametrize(("one", "other"), [("U2", "U 3"), ("Alien", "Aliens"), ("A-ha", "Ha"), ("1984", "1985")])
def test_different_names_stay_different(one, other):
    assert fold(one) != fold(other)


@given(st.lists(NAMES | st.text(alphabet="aΣ b\0\n\r\u2028.'s\u0301", max_size=8), max_size=6))
@example(["a", "b c", "", "d"])  # no initials across texts
@example(["x\0y", "’", "'s"])
def test_texts_folded_together_are_folded_as_each_alone(texts):
    assert folded_words(texts) == [word for text in texts for word in (*fold(text).split(), END)]


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Àb'S çd’s 'squé x's", "ab cd sque x"),  # a possessive ends its word, whatever the case
        ("Ромео & 中文-字幕 A. С. b", "ромео and 中文 字幕 aсb"),
        ("½ ﬁn ²x ＆ ſ", "1 2 fin 2x and s"),
        ("tab\tline\nnul\0end\u2003wide\x1c_", "tab line nul end wide _"),
        ("a 1 b_ c  d", "a 1 b_ cd"),
        ("lone \ud800 surrogate", "lone surrogate"),
    ],
)
def test_characters_of_all_kinds(text, folded):
    assert fold(text) == folded


def test_nothing_folds_to_nothing():
    assert fold("") == fold(" .!?' ") == ""


def test_words_stand_as_written():
    assert words("Don't ask, he’s Gödel!") == ["Don't", "ask", "he’s", "Gödel"]


@given(NAMES)
def test_stems_depend_on_the_folded_text_only(text):
    assert WORDS.stems(text) == WORDS.stems(fold(text))


@given(
    st.lists(
        st.sampled_from([*sorted(word for word in WORDS.stop_words if len(word) > 1), "album", "films"]), max_size=8
    )
)
def test_stop_words_have_no_stems_unless_wanted(tokens):
    text = " | ".join(tokens)
    assert WORDS.stems(text) == [WORDS.stem(token) for token in tokens if token not in WORDS.stop_words]
    assert len(WORDS.stems(text, keep_stop_words=True)) == len(tokens)


def test_words_that_carry_the_question_have_stems_and_name_nothing():
    assert WORDS.stems("the first film after it, and the last before most more") == [
        WORDS.stem(word) for word in ("first", "film", "after", "last", "before", "most", "more")
    ]
    assert WORDS.telling.isdisjoint(WORDS.stop_words) and WORDS.common == WORDS.telling | WORDS.stop_words
    assert WORDS.telling < WORDS.not_names


def test_forms_of_a_word_share_their_stem():
    assert len({WORDS.stem(word) for word in ("direct", "directed", "directing", "directs")}) == 1
    assert WORDS.stems("the directed films of Beyoncé") == [
        WORDS.stem("directed"),
        WORDS.stem("film"),
        WORDS.stem("beyonce"),
    ]
