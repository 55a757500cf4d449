"""Reads the formulas of Word documents as a line of text."""

from __future__ import annotations

import re
from typing import Any

from .office import element_name

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"


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


def _sign(node: Any, kind: str, name: str, usual: str) -> str:
    mark = node.find(f"{_M}{kind}Pr/{_M}{name}")
    return usual if mark is None else mark.get(f"{_M}val", "")


def _bracketed(text: str) -> str:
    return text if re.fullmatch(r"[\w.]*", text) else f"({text})"


def _attached(sign: str, text: str) -> str:
    return f"{sign}{text if re.fullmatch(r'[-+−]?[0-9]+', text) else _bracketed(text)}" if text else ""
