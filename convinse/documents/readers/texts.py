"""Reads plain texts into blocks."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Iterator, Sequence

from ...records.written_values import day_in
from ..model import Block, Heading, PairsBlock, ReadDocument, TableBlock, TextBlock
from .code_pages import decoded
from .drawn_tables import TextLine, aligned_table, drawn_table, is_rule

_LONGEST_TITLE = 80  # characters of a title: a line of a text that was wrapped at the usual width
_WIDEST_LINE = 150  # characters; longer lines were not wrapped by a width, each is a paragraph
_WRAPPED_WIDTH = 40  # characters; a paragraph of shorter lines is a list of them, unless it ends as a sentence does
_CODE_INDENT = 4  # spaces before a line of code, and columns of a tab, as in Markdown
_LINE_START = 200  # characters that tell whether a line is code
_LINE_END = re.compile(r"\r\n|\r|\n")
_RULE = re.compile(r"([^\w\s])\1*")
_UNDERLINE = re.compile(r"=+|-+|~+|\*+|\^+|\"+|#+|\++|_+")
_LONGEST_ENDING = 9  # characters of a mark at the end of a sentence and what closes quotations after it
_ITEM = re.compile(r"([-*•‣◦]|\d{1,2}[.)])\s+(?=\S)")
_FIELD = re.compile(r"([^\W\d_][^:]{0,39}):\s+(\S.*)")
# behind another one on a line of a form
_NEXT_FIELD = re.compile(r"(?<![:\s])\s{3,}(?=[^\W\d_](?:[^:\s]|\s(?!\s)){0,39}:\s)")
_SENTENCE_END = re.compile(r"[.!?:;…][\"'”’»)\]]*$")
_CODE = re.compile(
    r"[;{}]\s*$|^\s*(def|class|if|for|while|return|import|from)\b|^\s*(\$ |>>>|#|//|<)|[\w)\]]\(.*\)\s*$|\w\s?[-+*]?=\s?\S"
)
_WEEKDAY = re.compile(rf"(?:(?:{'|'.join(calendar.day_name)}),? )?")
_DATED_TITLE = re.compile(
    r"(?:\w\S* ){0,3}[^\Wa-z_]\S* \(?\d{4}-\d\d-\d\d\)?"
)  # 5.4.1 (2023-01-11); not "paid on 2023-01-11"
# a day and a time at the beginning of an entry of a log, a chat or a diary: "2026-01-04 02:13", "[9:12]", "12/03/2024, 9:12 -",
# "Jan 19 11:02:33"; 1.2.10 is a version
_STAMP = re.compile(
    r"""[\[(<]?
    (?:(?P<day>\d{4}[-/.]\d\d[-/.]\d\d|\d{1,2}[./]\d{1,2}[./]\d{4}|\d\d[./]\d\d[./]\d\d|[A-Z][a-z]{2}\ [\ \d]?\d(?=\ \d\d:))(?!\d))?
    [T,\ ]*(?P<time>\d{1,2}:\d\d(?::\d\d)?)?(?:[.,]\d+)?Z?(?![\d:])
    [\])>]?\s*(?:[-–|:]\s+)?""",
    re.VERBOSE,
)
_LONGEST_ENTRY = 400  # characters, as of an evidence: longer entries are read as paragraphs
_HALF_WORD = re.compile(r"(?:^|[\s(\"'“„])([^\W\d_]{2,})-$")


def read_text(data: bytes) -> ReadDocument:
    """Return the headings, paragraphs, items, fields and code of a plain text. Raises `DataError`."""
    groups = list(_groups(decoded(data)))
    blocks: list[Block] = []
    for place, lines in enumerate(groups):
        blocks += _blocks_of(lines, is_first=place == 0, is_last=place == len(groups) - 1)
    return ReadDocument("", blocks)


def _groups(text: str) -> Iterator[Sequence[TextLine]]:
    """The lines between blank ones and rules."""
    group: list[TextLine] = []
    for number, line in enumerate((*_LINE_END.split(text), ""), 1):
        wide = line.expandtabs(_CODE_INDENT).rstrip()
        if wide.strip():
            group.append(TextLine(number, line.strip(), len(wide) - len(wide.lstrip())))
        elif group:
            yield from _sections(group)
            group = []


def _sections(group: Sequence[TextLine]) -> Iterator[Sequence[TextLine]]:
    """Yield the parts of a group without blank lines, each from its underlined heading on; a rule alone is left out."""
    if _is_table(group):
        yield group
        return
    starts = [place - 1 for place in range(2, len(group)) if _is_underline(group[place], group[place - 1], alone=False)]
    for start, end in zip((0, *starts), (*starts, len(group)), strict=True):
        if end - start > 1 or not _RULE.fullmatch(group[start].text):
            yield group[start:end]


def _blocks_of(lines: Sequence[TextLine], is_first: bool, is_last: bool) -> Iterator[Block]:
    if _is_table(lines) and (table := drawn_table(lines) or aligned_table(lines)):
        yield table
        return
    # a rule, or the line above a heading
    if len(lines) > 1 and _UNDERLINE.fullmatch(lines[0].text):
        lines = lines[1:]
    if len(lines) > 1 and _is_underline(lines[1], lines[0], alone=len(lines) == 2):
        yield Heading(lines[0].text, 2, lines[0].number)
        lines = lines[2:]
    elif len(lines) == 1 and not is_last and (level := _level(lines[0].text, is_first)):
        yield Heading(lines[0].text, level, lines[0].number)
        lines = ()
    elif is_first and not is_last and _level(lines[0].text, is_first) and _fields(lines[1:]):  # a title, its author
        yield Heading(lines[0].text, 1, lines[0].number)
        lines = lines[1:]
    if lines and _is_code(lines):
        indent = min(line.indent for line in lines)
        text = "\n".join(" " * (line.indent - indent) + line.text for line in lines)
        yield TextBlock(text, lines[0].number, kind="code")
    elif entries := _entries(lines):
        yield entries
    elif fields := _fields(lines):
        yield PairsBlock(fields, lines[0].number)
    elif aligned := aligned_table(lines):
        yield aligned
    else:
        yield from _paragraphs(lines)


def _is_table(lines: Sequence[TextLine]) -> bool:
    """Whether lines draw a table, or have a rule below the aligned names of columns, which are no heading then."""
    has_rule = len(lines) > 1 and is_rule(lines[1].text)
    return drawn_table(lines) is not None or (has_rule and aligned_table(lines) is not None)


def _entries(lines: Sequence[TextLine]) -> TableBlock | None:
    """Return the entries of a log, a chat or a diary as the rows of a table; None for other lines and for long entries."""
    rows: list[list[str]] = []
    numbers: list[int] = []
    for line in lines:
        stamp = _STAMP.match(line.text)
        if stamp and (stamp["day"] or stamp["time"]):
            rows.append([stamp["day"] or "", stamp["time"] or "", line.text[stamp.end() :]])
            numbers.append(line.number)
        elif rows:
            rows[-1][2] = f"{rows[-1][2]} {line.text}"
        else:
            return None
    if len(rows) < 2 or not all(0 < len(text) <= _LONGEST_ENTRY for _, _, text in rows):
        return None
    columns = [place for place in range(3) if any(row[place] for row in rows)]
    cells = [[row[place] for place in columns] for row in (["date", "time", "entry"], *rows)]
    return TableBlock(cells, heads=1, lines=[numbers[0], *numbers])


def _is_underline(line: TextLine, above: TextLine, alone: bool) -> bool:
    """Whether a line marks the one above as a heading; of a longer paragraph it must be about as wide."""
    if not _UNDERLINE.fullmatch(line.text) or len(above.text) > _LONGEST_TITLE or not re.search(r"\w", above.text):
        return False
    return alone or len(line.text) >= max(3, 0.6 * len(above.text))


def _level(line: str, is_first: bool) -> int:
    if len(line) > _LONGEST_TITLE or line[-1] in ".:,":
        return 0
    day = day_in(line)
    if day is not None and _WEEKDAY.fullmatch(line[: day.start]) and day.end == len(line):
        return 2  # of a programme of several days
    if is_first and not _ITEM.match(line):
        return 1
    if _DATED_TITLE.fullmatch(line):
        return 2
    is_loud = line.isupper() and sum(map(str.isalpha, line)) > 1 and line[-1] not in ";!?"
    return 2 if is_loud and not _ITEM.match(line) else 0


def _is_code(lines: Sequence[TextLine]) -> bool:
    if any(line.indent < _CODE_INDENT for line in lines):
        return False
    return 2 * sum(bool(_CODE.search(line.text[:_LINE_START])) for line in lines) >= len(lines)


def fields_of(lines: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names and values of lines that are all of the form "Name: value", each name once; else nothing."""
    return _fields([TextLine(0, line, 0) for line in lines])


def parted_by_lines(lines: Sequence[str]) -> list[Block]:
    """Return names with their values, and the rest, of lines broken by hand of which half are "Name: value"; else nothing."""
    matches = [_FIELD.fullmatch(line) for line in lines]
    if not 2 <= sum(map(bool, matches)) >= len(lines) / 2:
        return []
    return [
        PairsBlock([(match[1].rstrip(), match[2])]) if match else TextBlock(line)
        for line, match in zip(lines, matches, strict=True)
    ]


def with_fields(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks with paragraphs in a row that are all "Name: value" as pairs."""
    run: list[TextBlock] = []
    for block in blocks:
        if isinstance(block, TextBlock) and _is_field(block):
            run.append(block)
        else:
            yield from _paired(run)
            run = []
            yield block
    yield from _paired(run)


def _is_field(block: TextBlock) -> bool:
    return block.kind == "text" and not block.links and bool(_FIELD.fullmatch(" ".join(block.text.split())))


def _paired(run: Sequence[TextBlock]) -> Iterator[Block]:
    pairs = fields_of(block.text for block in run)
    if not pairs:
        yield from run
    for pair, block in zip(pairs, run, strict=False):
        yield PairsBlock([pair], block.line, block.page)


def _fields(lines: Sequence[TextLine]) -> list[tuple[str, str]]:
    """The names and values of lines that are all of that form; a name that comes again is a speaker."""
    pairs: list[tuple[str, list[str]]] = []
    parts = (whole._replace(text=part) for whole in lines for part in _NEXT_FIELD.split(whole.text))
    for line in parts:
        match = _FIELD.fullmatch(line.text)
        if match and not re.search(r"[.!?;]\s", match[1]):
            pairs.append((match[1].strip(), [match[2]]))
        elif pairs and line.indent > lines[0].indent:
            pairs[-1][1].append(line.text)
        else:
            return []
    is_record = len(pairs) > 1 and len({name for name, _ in pairs}) == len(pairs)
    return [(name, _in_one_line(values)) for name, values in pairs] if is_record else []


def _paragraphs(lines: Sequence[TextLine]) -> Iterator[TextBlock]:
    prose: list[TextLine] = []
    item: list[TextLine] = []
    width = max((len(line.text) for line in lines), default=0)
    for line in lines:
        is_rule = len(line.text) > 2 and bool(_UNDERLINE.fullmatch(line.text))
        if is_rule or _begins_item(line.text, item, prose):
            yield from (*_prose(prose), *_item(item))
            prose, item = [], [] if is_rule else [line]
        elif item and (line.indent > item[0].indent or _goes_on(item[-1].text, line.text, width)):
            item.append(line)
        else:
            yield from _item(item)
            item = []
            prose.append(line)
    yield from (*_prose(prose), *_item(item))


def _begins_item(line: str, item: Sequence[TextLine], prose: Sequence[TextLine]) -> bool:
    """Whether a line has the mark of an item; a number after prose is one if it is the first, else may be of a date."""
    mark = _ITEM.match(line)
    return mark is not None and (not prose or bool(item) or not mark[1][0].isdigit() or mark[1][:-1] == "1")


def _item(lines: Sequence[TextLine]) -> Iterator[TextBlock]:
    if lines:
        text = _in_one_line([line.text for line in lines])
        # a number may be that of a day, which is no mark
        is_day = re.match(r"\d{1,2}\.\s+[^\W\d_]+\.?\s+\d{4}\b", text)
        yield TextBlock(text if is_day else _ITEM.sub("", text, count=1), lines[0].number, kind="item")


def _prose(lines: Sequence[TextLine]) -> Iterator[TextBlock]:
    """The paragraphs of lines: one, if a width broke it; lines that were ended by hand stay apart."""
    if not lines:
        return
    width = max(len(line.text) for line in lines)
    is_sentence = _is_sentence(lines)
    # a list of words in lower case
    is_list = width < _WRAPPED_WIDTH and not is_sentence and lines[0].text[0].islower()
    parts: list[list[TextLine]] = []
    for line in lines:
        if parts and not is_list and _goes_on(parts[-1][-1].text, line.text, width, is_sentence):
            parts[-1].append(line)
        else:
            parts.append([line])
    is_apart = len(parts) > 1 and width <= _WIDEST_LINE
    for part in parts:
        yield TextBlock(_in_one_line([line.text for line in part]), part[0].number, kind="item" if is_apart else "text")


def _is_sentence(lines: Sequence[TextLine]) -> bool:
    """Whether lines end as a sentence and one before does not: verses and narrow columns do, lists of sentences do not."""
    *before, last = (bool(_SENTENCE_END.search(line.text[-_LONGEST_ENDING:])) for line in lines)
    return last and not all(before)


def _goes_on(line: str, after: str, width: int, is_sentence: bool = False) -> bool:
    """Whether a line goes on in the next: that begins in lower case, or its first word had no room any more."""
    if width > _WIDEST_LINE:
        return False
    if after[0].islower():
        return True
    if width < _WRAPPED_WIDTH:
        return is_sentence
    has_room = len(line) + 1 + len(after.split(maxsplit=1)[0]) < 0.9 * width
    return not has_room or bool(_SENTENCE_END.search(line[-_LONGEST_ENDING:])) or line.endswith(",")


def _in_one_line(lines: Sequence[str]) -> str:
    """Lines as one; a word broken at the end of a line is whole again."""
    parts: list[str] = []
    for line, after in zip(lines, (*lines[1:], ""), strict=True):
        half = _HALF_WORD.search(line[-_LONGEST_TITLE:])
        if line.endswith("\xad"):
            parts.append(line[:-1])
        elif half and after[:1].islower():
            parts.append(line[:-1] if half[1].islower() else line)
        else:
            parts.append(f"{line} ")
    return "".join(parts).strip()
