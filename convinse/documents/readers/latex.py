"""Reads LaTeX into blocks: its sections, paragraphs, lists, tables, footnotes, and formulas as one writes them in a line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ..model import Block, CellGrid, Heading, Kind, PairsBlock, ReadDocument, TableBlock, TextBlock
from .code_pages import decoded

_DEEPEST_BRACES = 30  # commands or environments within one another; each level of commands is a pass over the text
_LONGEST_ARGUMENT = 2_000  # characters
_LONGEST_TABLE = 5_000  # characters in which its title is looked for
_MOST_SPAN = 100  # columns or rows of a cell
_SECTIONS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_ARGUMENT = r"\{((?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*)\}"
_OPTION = r"(?:\[[^\[\]]{0,500}\])?"
_COMMENT = re.compile(r"(?<!\\)%.*")
_TOKEN = re.compile(
    rf"\\({'|'.join(_SECTIONS)}|caption)\*?{_OPTION}(?={{)|\\begin\{{(\w+)\*?\}}|\\end\{{(\w+)\*?\}}"
    r"|\\(?:bib)?item\b(?:\s*\[([^\[\]]*)\])?|\n[ \t]*\n"
)
_VERBATIM = ("verbatim", "lstlisting", "minted", "Verbatim", "alltt")
_TABLES = ("tabular", "tabularx", "tabulary", "longtable", "array", "xltabular", "supertabular")
_LISTS = ("itemize", "enumerate", "description", "thebibliography")
_FORMULAS = ("equation", "align", "gather", "multline", "eqnarray", "displaymath", "math", "split", "aligned", "cases")
_SKIPPED = ("comment", "tikzpicture", "filecontents", "picture")
_RULE = re.compile(
    r"\\(?:hline|toprule|bottomrule|(?:cline|cmidrule)(?:\([^()]*\))?\{[^{}]*\}|endfoot|endlastfoot|addlinespace|centering)"
)
_HEAD_END = re.compile(r"\\(?:midrule|endhead|endfirsthead)")
_BRACE = re.compile(r"[{}]")
_SPAN = re.compile(rf"\s*\\multi(column|row)\s*\{{(\d+)\}}\s*\{{[^{{}}]*\}}\s*{_ARGUMENT}", re.DOTALL)
_COMMAND = re.compile(
    r"\\([a-zA-Z]+)\*?(?:\[[^\[\]{}]*\])?((?:\{[^{}]*\}){0,4})(?![a-zA-Z*\[]|[ \t]*\{)[ \t]*|([\^_])\{([^{}]*)\}|(?<![}\]])\{([^{}]*)\}"
)
_ACCENT = re.compile(r"\\([\"'`^~=.]|[cvuHkr](?![a-zA-Z]))\s*(?:\{\s*\\?([a-zA-Z])\s*\}|\\?([a-zA-Z]))")
_MARKS = dict(
    zip("\"'`^~=.cvuHkr", "\u0308\u0301\u0300\u0302\u0303\u0304\u0307\u0327\u030c\u0306\u030b\u0328\u030a", strict=True)
)
_ESCAPED = re.compile(r"\\([$%&#_{}])")
_FIRST_ESCAPE = 0xE000  # of characters for private use
_SIGNS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "i": "i", "j": "j",
    "times": "×", "cdot": "·", "pm": "±", "mp": "∓", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠", "approx": "≈",
    "sim": "~", "infty": "∞", "sum": "∑", "prod": "∏", "int": "∫", "partial": "∂", "nabla": "∇", "rightarrow": "→", "to": "→", "in": "∈",
    "Rightarrow": "⇒", "leftarrow": "←", "degree": "°", "circ": "∘", "dots": "…", "ldots": "…", "cdots": "…", "subset": "⊂", "cup": "∪",
    "cap": "∩", "forall": "∀", "exists": "∃", "euro": "€", "texteuro": "€", "pounds": "£", "textdegree": "°", "copyright": "©", "S": "§",
    "LaTeX": "LaTeX", "TeX": "TeX", "textasciitilde": "~", "div": "÷", "equiv": "≡", "propto": "∝", "textbar": "|",
}  # fmt: skip
_FUNCTIONS = frozenset("sin cos tan cot log ln exp max min lim sup inf det arg gcd deg dim ker Pr mod".split())
_NO_WORDS = frozenset(
    "label ref eqref pageref autoref cref Cref includegraphics vspace hspace usepackage bibliographystyle bibliography pagestyle setlength "
    "newcommand renewcommand input include thispagestyle cite citep citet citealp nocite parencite textcite index documentclass rule "
    "addcontentsline setcounter addtocounter color fontsize hypersetup definecolor newtheorem DeclareMathOperator graphicspath".split()
)


def read_latex(data: bytes) -> ReadDocument:
    """Return the content of LaTeX; files that it includes are not read."""
    text = decoded(data).replace("\r\n", "\n").replace("\r", "\n")
    reading = _Latex(_COMMENT.sub("%", text))
    blocks = list(reading.blocks())
    return ReadDocument(reading.field("title"), blocks)


class _Latex:
    def __init__(self, text: str) -> None:
        self._text = text
        start, end = text.find("\\begin{document}"), text.rfind("\\end{document}")
        self._place = start + len("\\begin{document}") if start >= 0 else 0
        self._end = end if end > self._place else len(text)
        self._line = text.count("\n", 0, self._place) + 1
        self._words: list[str] = []
        self._start = self._line  # of the paragraph
        self._open: list[str] = []  # the environments of the place
        self._label: str | None = None  # of an item
        self._caption = ""

    def field(self, name: str) -> str:
        """Return what the file states of itself, such as its title."""
        match = re.search(rf"\\{name}\s*{_OPTION}\s*{_ARGUMENT}", self._text[:100_000], re.DOTALL)
        return plain_words(match[1].replace("\\and", ", "), [], []) if match else ""

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of the document."""
        if fields := [(name, value) for name in ("author", "date") if (value := self.field(name))]:
            yield PairsBlock(fields, 1)
        while match := _TOKEN.search(self._text, self._place, self._end):
            self._take(match.start())
            self._move(match.end())
            section, begin, end, label = match.groups()
            if begin in _FORMULAS or end in _FORMULAS:
                self._words.append(" ")
                continue
            yield from self._paragraph()
            if section == "caption":
                words = plain_words(self._argument(), [], [])
                if not self._caption and words:  # a table has it already
                    yield TextBlock(words, self._line)
            elif section:
                line = self._line
                level = min(max(_SECTIONS.index(section), 1), 5)
                if words := plain_words(self._argument(), [], []):
                    yield Heading(words, level, line)
            elif begin:
                yield from self._environment(begin)
            elif end:
                if self._open and self._open[-1] == end:
                    self._open.pop()
                self._caption = "" if end in ("table", "longtable") else self._caption
            elif "item" in match[0]:
                self._label = label or ""
        self._take(self._end)
        yield from self._paragraph()

    def _move(self, place: int) -> None:
        self._line += self._text.count("\n", self._place, place)
        self._place = place

    def _take(self, place: int) -> None:
        words = self._text[self._place : place]
        if words.strip():
            if not "".join(self._words).strip():
                self._start = self._line + words[: len(words) - len(words.lstrip())].count("\n")
            self._words.append(words)
        self._move(place)

    def _argument(self) -> str:
        """Return what stands in the braces at this place, and go behind them."""
        depth, start = 0, self._place
        for brace in _BRACE.finditer(self._text, start, min(start + _LONGEST_ARGUMENT, self._end)):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                self._move(brace.end())
                return self._text[start + 1 : brace.start()]
        return ""

    def _paragraph(self) -> Iterator[Block]:
        notes: list[str] = []
        links: list[tuple[str, str]] = []
        text = plain_words("".join(self._words), notes, links)
        self._words = []
        if not text:
            return
        in_list = next((name for name in reversed(self._open) if name in _LISTS), "")
        is_quotation = any(name in ("quote", "quotation", "verse") for name in self._open)
        kind: Kind = "item" if in_list else "quotation" if is_quotation else "text"
        label, self._label = self._label, None
        if label and in_list == "description":
            yield PairsBlock([(plain_words(label, [], []).rstrip(":"), text)], self._start)
        else:
            yield TextBlock(text, self._start, kind=kind, links=tuple(links))
        yield from (TextBlock(note, self._start, kind="note") for note in notes)

    def _environment(self, name: str) -> Iterator[Block]:
        if name in ("table", "longtable"):
            part = self._text[self._place : min(self._place + _LONGEST_TABLE, self._end)].partition(f"\\end{{{name}")[0]
            match = re.search(rf"\\caption\*?{_OPTION}{_ARGUMENT}", part, re.DOTALL)
            self._caption = plain_words(match[1], [], []) if match else ""
        if name in (*_VERBATIM, *_TABLES, *_SKIPPED):
            end = self._text.find(f"\\end{{{name}", self._place, self._end)
            body, line = self._text[self._place : end if end >= 0 else self._end], self._line
            self._move(self._place + len(body))
            if name in _TABLES and (table := _table(body, line, self._caption)):
                yield table
            elif name in _VERBATIM and (code := re.sub(r"^(?:\[[^\]]*\]|\{\w+\})+", "", body).strip("\n")):
                yield TextBlock(code, line + 1, kind="code")
        elif name == "abstract":
            yield Heading(name.capitalize(), 2, self._line)
        else:
            if len(self._open) < _DEEPEST_BRACES:
                self._open.append(name)
            # options, and the width of the numbers of references
            option = re.compile(r"\[[^\]\n]*\]|\{[^}\n]*\}").match(self._text, self._place)
            self._move(option.end() if option else self._place)


def _table(body: str, line: int, caption: str) -> TableBlock | None:
    body = re.sub(
        r"^\s*(?:\[[^\]]*\]|" + _ARGUMENT + "){1,3}", lambda match: "\n" * match[0].count("\n"), body, count=1
    )
    body = re.sub(rf"\\caption\*?{_OPTION}{_ARGUMENT}|\\label\{{[^{{}}]*\}}", "", body)
    grid = CellGrid()
    lines: list[int] = []
    heads: int | None = None
    for row in re.split(r"\\\\\*?(?:\[[^\]]*\])?|\\tabularnewline\b", body):
        start = line + row[: len(row) - len(row.lstrip())].count("\n")
        line += row.count("\n")
        if _HEAD_END.search(row):
            heads = heads or len(lines)
        row = _HEAD_END.sub("", _RULE.sub("", row))
        if not row.strip():
            continue
        number, column = len(lines), 0
        lines.append(start)
        for cell in re.split(r"(?<!\\)&", row):
            right = down = 1
            while span := _SPAN.match(cell):
                size = max(min(int(span[2]), _MOST_SPAN), 1)
                right, down = (size, down) if span[1] == "column" else (right, size)
                cell = span[3]
            words = plain_words(cell, [], [])
            if (number, column) not in grid.merged or words:
                grid.put(number, column, words, down, right)
            column += right
    return grid.table(len(lines), heads or None, caption, lines) if grid.texts else None


def plain_words(text: str, notes: list[str], links: list[tuple[str, str]]) -> str:
    """Return the words of LaTeX in one line; add its footnotes and links to the lists."""

    def words_of(match: re.Match[str]) -> str:
        name, arguments, raised, script, group = match.groups()
        if group is not None:
            return group
        if raised:
            return raised + (script if len(script) < 2 or re.fullmatch(r"[-+−]?\w*", script) else f"({script})")
        values = re.findall(r"\{([^{}]*)\}", arguments)
        is_letter = _SIGNS.get(name, "").isalpha() and not values  # the blank behind it only ends its name
        return command(name, values) + (" " if match[0][-1] in " \t" and not is_letter else "")

    def command(name: str, values: list[str]) -> str:
        if name == "footnote" and values:
            notes.append(_ended(values[-1]))
            return ""
        if name in ("href", "url") and values:
            if len(values) > 1:
                links.append((_ended(values[1]), _ended(values[0])))
            return values[-1]
        if name in ("frac", "dfrac", "tfrac", "nicefrac") and len(values) == 2:
            return "/".join(value if re.fullmatch(r"\s*[\w.]*\s*", value) else f"({value})" for value in values)
        if name == "sqrt" and values:
            return f"√({values[0]})" if len(values[0]) > 1 else f"√{values[0]}"
        if name == "textsuperscript" and values:
            return f"^{values[0]}" if values[0].isdigit() else values[0]
        if name in _NO_WORDS:
            return ""
        if name in ("textcolor", "colorbox", "parbox", "scalebox", "begin", "end"):
            values = values[1:]
        return (_SIGNS.get(name) or (name if name in _FUNCTIONS else _greek(name))) + " ".join(values)

    text = _ESCAPED.sub(lambda match: chr(_FIRST_ESCAPE + ord(match[1])), text.replace("\\\\", " "))
    text = _ACCENT.sub(lambda match: unicodedata.normalize("NFC", (match[2] or match[3]) + _MARKS[match[1]]), text)
    text = re.sub(r"\\[,;:!>/ @-]", lambda match: "" if match[0] in ("\\!", "\\/", "\\-", "\\@") else " ", text)
    text = re.sub(r"\\(?:left|right|big|Big|bigg|Bigg)(?![a-zA-Z])\.?", "", text)
    for _ in range(_DEEPEST_BRACES):  # those within come first
        before = text
        text = _COMMAND.sub(words_of, text)
        if text == before:
            break
    return _ended(text)


def _ended(text: str) -> str:
    """Return words without the last marks, and with the characters that were written with a backslash."""
    text = re.sub(r"\\(?:[\[\]()]|[a-zA-Z]+)?|[{}$%]", "", text).replace("&", " ")
    text = text.replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”").replace("~", " ")
    text = re.sub(r"[\ue020-\ue07f]", lambda match: chr(ord(match[0]) - _FIRST_ESCAPE), text)
    return re.sub(r" ([.,;:!?])(?= |$)", r"\1", " ".join(text.split()))


def _greek(name: str) -> str:
    """Return a Greek letter by its name; an empty text for other names."""
    size = "CAPITAL" if name[:1].isupper() else "SMALL"
    letter = name.removeprefix("var").upper().replace("LAMBDA", "LAMDA")
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {letter}")
    except KeyError:
        return ""
