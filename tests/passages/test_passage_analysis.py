import unicodedata
from itertools import combinations

import pytest

from case_tables import each_case
from convinse.passages.analysis import LANGUAGES, Analyzer, stop_words


@each_case("words")
def test_words_of_all_scripts(case):
    def terms(text):
        return Analyzer(case["language"]).terms([text])

    assert all(terms(text) for key in ("same", "apart", "finds") for text in case.get(key, []))
    assert len({tuple(terms(text)) for text in case.get("same", [""])}) == 1
    for text, other_text in combinations(case.get("apart", []), 2):
        assert not set(terms(text)) & set(terms(other_text))
    if "finds" in case:
        word, sentence = map(terms, case["finds"])
        assert set(word) <= set(sentence)


def test_without_a_language_all_words_count_and_latin_accents_go():
    assert Analyzer().terms(["The cats, żółć! Straße"]) == ["the", "cats", "zolc", "strasse"]


def test_decomposed_text_is_the_same_text():
    for language in ("pl", "ko", "mul"):
        for text in ("żółta łódź", "서울은 한국"):
            analyzer = Analyzer(language)
            assert analyzer.terms([unicodedata.normalize("NFD", text)]) == analyzer.terms([text])


def test_korean_syllables_are_kept_and_particles_do_not_hide_the_word():
    analyzer = Analyzer("ko")
    assert analyzer.terms(["서울은"]) == ["서울", "울은"]
    assert set(analyzer.terms(["서울의"])) & set(analyzer.terms(["서울은"])) == {"서울"}
    assert analyzer.terms(["나 K팝"]) == ["나", "k팝"]


def test_languages_without_a_list_have_no_stop_words():
    assert stop_words("fi") == frozenset() and "się" in stop_words("pl")
    assert len(Analyzer("fi").terms(["ja on"])) == 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_can_be_used(language):
    assert Analyzer(language).terms(["Warszawa 1944"])[-1] == "1944"
