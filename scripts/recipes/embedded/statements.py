"""Questions and statements that a passage answers with yes or no, or does not decide: what the yes/no head learns from."""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from convinse.language.language import english
from recipes.embedded.data_sets import YES_NO_SETS, YesNoSet
from recipes.embedded.examples import part_of_key
from recipes.embedded.negatives import holds, joined_keys
from recipes.sources import records

_VERDICTS = {"entailed": 1.0, "neutral": 0.5, "contradicted": 0.0}
_BEST = (
    4  # attributes of a box or rows of a table that a statement is judged by: as many as the pipeline reads, or nearly
)
_OTHER_BOX = 0.2  # share of the statements about a box that are also made of another one
_LONG_WORD = 4  # letters of a word of a title that names it


class Decided(NamedTuple):
    """A question for yes or no, or a statement, with a passage."""

    question: str
    passage: str
    yes: float  # whether the passage says yes (1) or no (0); 0.5 if it does not say
    key: str  # that its parts go by


def decided_questions(data: Path) -> Iterator[Decided]:
    """All questions and statements of the sets for yes or no."""
    for name in YES_NO_SETS:
        yield from of_set(name, data)


def of_set(name: str, data: Path) -> Iterator[Decided]:
    """A share of the questions of a set, each once; texts that are passages under several titles have one key."""
    declared, chance = YES_NO_SETS[name], random.Random(name)
    lines = [line for file in declared.files for line in records(data, file) if chance.random() < declared.share]
    rows: dict[tuple[str, str], Decided] = {}
    for row in _READERS.get(declared.passage, _of_texts)(lines, declared):
        rows.setdefault((row.question, row.passage), row)
    if declared.passage in _READERS:
        return iter(rows.values())
    keys = joined_keys((row.key, row.passage) for row in rows.values())
    return (row._replace(key=keys[row.key]) for row in rows.values())


def _of_texts(lines: Iterable[dict[str, Any]], declared: YesNoSet) -> Iterator[Decided]:
    for line in lines:
        passage = line[declared.passage]
        text = " ".join(passage) if isinstance(passage, list) else passage
        yield Decided(line[declared.question], text, float(line["answer"]), line[declared.key])


def _best(statement: str, texts: Sequence[str]) -> str:
    """Return the texts that share most with a statement, in their order."""
    places = [place for place, _ in english().bm25.order(statement, texts)[:_BEST]]
    return ". ".join(texts[place] for place in sorted(places))


def _of_boxes(lines: Iterable[dict[str, Any]], declared: YesNoSet) -> Iterator[Decided]:
    """Statements about the infobox of a page; some of those that name the page are also made of a box of the same category."""
    chance, lines = random.Random("other boxes"), list(lines)
    boxes: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(dict)  # category and part -> title -> attributes
    for line in lines:
        same = boxes[line["category"], part_of_key(line["title"])]
        same.setdefault(line["title"], _attributes(line))
    for line in lines:
        said, title = line[declared.question], line[declared.key]
        yield Decided(said, _best(said, _attributes(line)), _VERDICTS[line["label"]], title)
        same = boxes[line["category"], part_of_key(title)]
        other = chance.choice(list(same))
        names = [word for word in title.split() if len(word) >= _LONG_WORD and not holds(other, [word])]
        if chance.random() < _OTHER_BOX and holds(said, names):
            yield Decided(said, _best(said, same[other]), 0.5, title)


def _attributes(line: dict[str, Any]) -> list[str]:
    return [", ".join([line["title"], name, *values]) for name, values in line["attributes"]]


def _of_tables(lines: Iterable[dict[str, Any]], declared: YesNoSet) -> Iterator[Decided]:
    """Pairs of a true and a false statement about a table, with its rows as evidences have them."""
    for line in lines:
        page = unquote((line[declared.key] or "").rpartition("/wiki/")[2]).replace("_", " ") or line["table_id"]
        name = f"{line['title']}, " if line["title"] else ""
        rows = []
        for cells in line["rows"]:
            pairs = zip(line["header"], cells, strict=False)
            rows.append(name + ", ".join(f"{header} is {cell}" for header, cell in pairs if cell))
        for label in ("true", "false"):
            yield Decided(line[label], _best(line[label], rows), float(label == "true"), page)


_READERS = {"box": _of_boxes, "rows": _of_tables}
