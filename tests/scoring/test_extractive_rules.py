import plain_rules
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.scoring.extractive import normalize, normalize_keeping_articles, overlap_f1, some


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Beatles!", "beatles"),
        ("an apple a day", "apple day"),
        ("U.S. Army", "us army"),
        ("A-ha", "aha"),
        ("the", ""),
        ("T.h.e", ""),  # punctuation goes first
        ("then theme another ana", "then theme another ana"),
        ("the—end", "—end"),  # a dash beyond ASCII stays, and ends a word
        ("the_end", "theend"),
        ("«The» ’a’", "« » ’ ’"),
        ("«The end»", "« end»"),
        ("tab\tand\u00a0no-break\nline", "tab and nobreak line"),
        ("《한국》 a 책을", "《한국》 책을"),
        ("Ünïcode THE Äther", "ünïcode äther"),
        ("", ""),
        (" ?! ", ""),
    ],
)
def test_normalised_texts(text, normal):
    assert normalize(text) == normal
    assert normalize(normal) == normal


def test_articles_can_stay():
    assert normalize_keeping_articles("The  end, of AN era") == "the end of an era"


@given(st.text(alphabet=st.sampled_from("aAnNtThHeE _-—'’.,!\t\u00a0\u3000İß한《é5"), max_size=30))
def test_normalisation_is_the_plain_one(text):
    assert normalize(text).split() == plain_rules.words(text)
    assert normalize_keeping_articles(text).split() == plain_rules.words(text, articles=False)


@pytest.mark.parametrize(
    ("predicted", "gold", "f1"),
    [
        ("new york city", "new york", 0.8),  # precision 2/3, recall 1
        ("york new", "new york", 1.0),  # a bag: order does not count
        ("x x y", "x y y", 2 / 3),  # a token counts as often as both have it
        ("x", "y", 0.0),
        ("", "y", 0.0),
        ("x", "", 0.0),
        ("", "", 0.0),
    ],
)
def test_f1_of_tokens(predicted, gold, f1):
    assert overlap_f1(predicted.split(), gold.split()) == pytest.approx(f1)


tokens = st.lists(st.sampled_from("abcd"), max_size=6)


@given(tokens, tokens)
def test_f1_is_symmetric_in_range_and_the_plain_one(one, other):
    value = overlap_f1(one, other)
    assert value == plain_rules.f1(one, other)
    assert value == pytest.approx(overlap_f1(other, one)) and 0.0 <= value <= 1.0
    assert (value == 1.0) == (bool(one) and sorted(one) == sorted(other))


def test_a_warning_names_a_few_ids():
    assert some(["a", "b"]) == "a, b"
    assert some(list("abcdef")) == "a, b, c, d, e, ..."
