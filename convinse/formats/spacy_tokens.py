"""The tokens of spaCy, which made those of the MRQA task; they need the extra `spacy`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec

from .tokens import DOCUMENT_MARK, PARAGRAPH_MARK, TITLE_MARK, Token


def is_installed() -> bool:
    """Whether spaCy is there."""
    return find_spec("spacy") is not None


@lru_cache(maxsize=1)
def spacy_tokenizer() -> Callable[[str], list[Token]]:
    """spaCy's rules for English, which need no model; the marks of MRQA contexts are tokens, white space is none."""
    spacy = import_module("spacy")

    tokenizer = spacy.blank("en").tokenizer
    for mark in (TITLE_MARK, DOCUMENT_MARK, PARAGRAPH_MARK):
        tokenizer.add_special_case(mark, [{"ORTH": mark}])

    def tokens(text: str) -> list[Token]:
        return [(token.text, token.idx) for token in tokenizer(text) if not token.text.isspace()]

    return tokens
