"""Reads the formulas of Word documents as a line of text."""

from __future__ import annotations

import re
from typing import Any

from selectolax.lexbor import LexborNode

from .office import element_name

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_INVISIBLE = dict.fromkeys(range(0x2061, 0x2065))  # multiplication that is not shown, and its like
_ATTACHED = {"msup": "^", "msub": "_", "msubsup": "_^", "munder": "_", "mover": "^", "munderover": "_^"}


def formula_words(node: Any) -> str:
    """Return a formula as one writes it in a line: a fraction as a/b, a root as √(a), raised and lowered parts by ^ and _."""
    name = element_name(node)
    if name == "t":
        return node.text or ""
    parts = [child for child in node if element_name(child) and not element_name(child).endswith("Pr")]
    words = [formula_words(part) for part in parts]
    texts = dict(zip(map(element_name, parts), words, strict=True))
    power = _attached("_", texts.get("sub", "")) + _attached("^", texts.get("sup", ""))
    if name == "f":
        return f"{_bracketed(texts.get('num', ''))}/{_bracketed(texts.get('den', ''))}"
    if name == "rad":
        return f"{texts.get('deg', '')}√{_bracketed(texts.get('e', ''))}"
    if name in ("sSup", "sSub", "sSubSup"):
        return texts.get("e", "") + power
    if name == "nary":
        return f"{_sign(node, 'nary', 'chr', '∫')}{power} {texts.get('e', '')}"
    if name in ("limLow", "limUpp"):
        return texts.get("e", "") + _attached("_" if name == "limLow" else "^", texts.get("lim", ""))
    if name == "d":
        inner = _sign(node, "d", "sepChr", "|").join(words)
        return f"{_sign(node, 'd', 'begChr', '(')}{inner}{_sign(node, 'd', 'endChr', ')')}"
    return {"func": " ", "eqArr": "; ", "m": "; ", "mr": ", "}.get(name, "").join(words)


def markup_words(node: LexborNode) -> str:
    """Return a formula of MathML as one writes it in a line; see `formula_words`."""
    tag = node.tag
    parts = [child for child in node.iter() if child.tag not in ("annotation", "annotation-xml")]
    if not parts:
        return " ".join(node.text().split()).translate(_INVISIBLE)
    words = [markup_words(part) for part in parts]
    first, *others = words
    if tag == "mfrac":
        return f"{_bracketed(first)}/{_bracketed(' '.join(others))}"
    if tag in ("msqrt", "mroot"):
        return f"{''.join(others) if tag == 'mroot' else ''}√{_bracketed(first if tag == 'mroot' else ''.join(words))}"
    if tag in _ATTACHED:
        return first + "".join(_attached(sign, word) for sign, word in zip(_ATTACHED[tag], others, strict=False))
    return "".join(words)


def _sign(node: Any, kind: str, name: str, usual: str) -> str:
    mark = node.find(f"{_M}{kind}Pr/{_M}{name}")
    return usual if mark is None else mark.get(f"{_M}val", "")


def _bracketed(text: str) -> str:
    return text if re.fullmatch(r"[\w.]*", text) else f"({text})"


def _attached(sign: str, text: str) -> str:
    return f"{sign}{text if re.fullmatch(r'[-+−]?[0-9]+', text) else _bracketed(text)}" if text else ""
