"""The language object: its word lists are data, read once, and a second language is a second folder."""

import shutil

import pytest

from case_tables import each_case
from convinse.language.language import english, load, stop_words
from convinse.support.errors import DataError
from places import ROOT

LANGUAGE = ROOT / "convinse" / "language"


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(LANGUAGE / "english", tmp_path / "german")


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_second_language_is_a_folder(folder):
    change(folder / "words.txt", "a an the of", "ein eine der von")
    change(folder / "words.txt", "english", "german")
    change(folder / "answer_types.txt", "date year day", "date year day tag jahr")
    german = load(folder)
    assert german.words.stems("der Hobbit von Tolkien") == ["hobbit", "tolki"]
    assert german.answer_types.expected_type("What jahr?").kind == "date"
    assert english().words.stems("der hobbit")[0] == "der"
    assert german.bm25.scores("der", ["der", "the"]) == [0.0, 0.0] != german.bm25.scores("the", ["der", "the"])
    assert "der" in german.properties.not_bridges


@each_case("damaged_words")
def test_a_damaged_file_is_told_by_its_name_and_list(folder, case):
    change(folder / case["file"], case["old"], case["new"])
    with pytest.raises(DataError, match=case["message"]):
        load(folder)


def test_a_missing_word_list_is_told(folder):
    (folder / "names.txt").unlink()
    with pytest.raises(DataError, match="names.txt: cannot be read .*; a language needs all of its word lists"):
        load(folder)


def test_stop_words_of_languages_of_which_nothing_else_is_known():
    assert stop_words("en") == english().words.common
    words = {"de": "und", "pl": "że", "fr": "où", "es": "ya"}
    assert all(word in stop_words(language) for language, word in words.items())
    assert stop_words("mul") == frozenset()


@each_case("suggestions")
def test_files_suggest_questions_that_one_would_ask(case):
    words = english().follow_ups
    if "title" in case:
        thing = words.document_named(case["title"])
    else:
        thing = case["thing"] if "thing" in case else words.row_named(case["header"], case["text"])
    assert (thing and words.about(case["name"], thing)) == case["question"]
