"""Tokens of MRQA files: spaCy's if it is installed, else ours with a word about it."""

import re
import sys
from types import SimpleNamespace

import pytest

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


@pytest.mark.parametrize("is_installed", [True, False])
def test_tokens_are_those_of_spacy_if_it_is_installed(workdir, monkeypatch, is_installed):
    fake = Tokenizer()
    spacy = SimpleNamespace(blank=lambda language: SimpleNamespace(tokenizer=fake)) if is_installed else None
    monkeypatch.setitem(sys.modules, "spacy", spacy)
    _, counts = convert(write("squad.json", SQUAD), workdir / "mrqa.jsonl", "mrqa", "squad", quiet=True)
    (example,) = read_examples(workdir / "mrqa.jsonl")
    expected = "It costs $5-6." if is_installed else "It costs $ 5 - 6 ."
    assert [token for token, _ in example.context_tokens] == expected.split()
    assert any("the extra spacy" in what for what in counts) != is_installed
    assert fake.marks == [(mark, mark) for mark in ("[TLE]", "[DOC]", "[PAR]")] * is_installed
