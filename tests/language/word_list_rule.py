"""Finds lists of English words in source text: what belongs into the data files of `convinse/language/`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

_FEW = 4  # that many words are a list
_WORD = r"[a-z]+(?:['’-][a-z]+)*"
_WORDS = re.compile(rf"{_WORD}(?:[\s,|]+{_WORD})*")
# in a regular expression: `a|b|c|d`, each perhaps with an optional ending, an escape or a group behind it
_PIECE = r"[a-z]{2,}(?:\[[^\]]*\]|\([^()]*\)|\\?[\w'’ ?.+*])*?"
_ALTERNATIVES = re.compile(rf"{_PIECE}(?:\|{_PIECE}){{{_FEW - 1},}}")

_READERS = ("split", "keywords", "stems", "words")  # functions that make a list of a text
_FIXED = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Load, ast.UnaryOp, ast.USub)


class WordList(NamedTuple):
    """Where a list of words stands: its line, the name that it is given (the function or class, if none), its words."""

    line: int
    name: str
    words: tuple[str, ...]


def word_lists(source: str) -> Iterator[WordList]:
    """The collections of words, the strings that are split into words, and the alternatives of words in patterns."""
    yield from _lists(ast.parse(source), "")


def _lists(node: ast.AST, name: str) -> Iterator[WordList]:
    name = _name_of(node) or name
    words = _words_of(node)
    if words:
        yield WordList(getattr(node, "lineno", 0), name, words)
        return
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):  # a docstring
            yield from _lists(child, name)


def _name_of(node: ast.AST) -> str:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return next((target.id for target in targets if isinstance(target, ast.Name)), "")


def _words_of(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return _plain(node.elts)
    if isinstance(node, ast.Dict):  # a table of words has strings and numbers in it, a record what was computed
        fixed = all(isinstance(part, _FIXED) for value in node.values for part in ast.walk(value))
        return _plain([key for key in node.keys if key is not None]) if fixed else ()
    if isinstance(node, ast.Call):
        named = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        arguments = [node.func.value] if named == "split" and isinstance(node.func, ast.Attribute) else node.args
        texts = [_text(part) for part in arguments] if named in _READERS else []
        lists = [re.split(r"[\s,|]+", text) for text in texts if _WORDS.fullmatch(text)]
        return tuple(word for words in lists if len(words) >= _FEW for word in words)
    if isinstance(node, ast.Constant | ast.JoinedStr):
        found = _ALTERNATIVES.search(_text(node))
        return tuple(found[0].split("|")) if found else ()
    return ()


def _plain(nodes: list[ast.expr]) -> tuple[str, ...]:
    """The strings of a collection, if most of its elements are plain words and these are many."""
    words = tuple(text for text in map(_text, nodes) if re.fullmatch(_WORD, text))
    return words if len(words) >= _FEW and len(words) * 2 > len(nodes) else ()


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_text, node.values))
    return ""
