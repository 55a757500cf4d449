"""Tokens of MRQA files: spaCy's where it is installed, else ours with a word about it."""

import re
import sys
from types import ModuleType, SimpleNamespace

import pytest

from convinse.formats import spacy_tokens
from convinse.formats.converters import convert
from convinse.formats.mrqa import read_examples
from written import write

SQUAD = """{"data": [{"title": "T", "paragraphs": [{"context": "It costs $5-6.",
 "qas": [{"id": "q", "question": "How much?", "answers": [{"text": "$5-6", "answer_start": 9}]}]}]}]}"""


class Tokenizer:
    """Parts at blanks, and knows the marks that it was told."""

    def __init__(self):
        self.marks = []

    def add_special_case(self, mark, parts):
        self.marks.append((mark, parts[0]["ORTH"]))

    def __call__(self, text):
        return [SimpleNamespace(text=match[0], idx=match.start()) for match in re.finditer(r"\S+|\s+", text)]


@pytest.fixture
def fake(monkeypatch):
    module, tokenizer = ModuleType("spacy"), Tokenizer()
    module.blank = lambda language: SimpleNamespace(tokenizer=tokenizer) if language == "en" else None
    monkeypatch.setitem(sys.modules, "spacy", module)
    monkeypatch.setattr(spacy_tokens, "find_spec", lambda name: name)
    spacy_tokens.spacy_tokenizer.cache_clear()
    yield tokenizer
    spacy_tokens.spacy_tokenizer.cache_clear()


def converted(workdir):
    done = convert(write("squad.json", SQUAD), workdir / "mrqa.jsonl", "mrqa", "squad", quiet=True)
    (example,) = read_examples(workdir / "mrqa.jsonl")
    return example, [what for what in done.counts if "spaCy" in what]


def test_tokens_are_those_of_spacy_where_it_is_there(workdir, fake):
    example, said = converted(workdir)
    assert example.context_tokens == [("It", 0), ("costs", 3), ("$5-6.", 9)] and said == []
    assert example.qas[0].question_tokens == [("How", 0), ("much?", 4)]
    assert fake.marks == [(mark, mark) for mark in ("[TLE]", "[DOC]", "[PAR]")]


def test_else_the_difference_is_said(workdir, monkeypatch):
    monkeypatch.setattr(spacy_tokens, "find_spec", lambda name: None)
    example, said = converted(workdir)
    assert [token for token, _ in example.context_tokens] == ["It", "costs", "$", "5", "-", "6", "."]
    assert len(said) == 1 and "97.1 %" in said[0] and "convinse[spacy]" in said[0]
