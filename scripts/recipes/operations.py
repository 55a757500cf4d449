"""How often the operations over rows are right: the weights of `convinse.heterogeneous_answering.operations`.

    PYTHONPATH=scripts python -m recipes.operations [--data ../shared/data] [--questions 2000]

Questions of WikiTableQuestions (its training part) with one answer are asked of their table alone, and each operation that gives an
answer is counted, with how often it is right: its first answer is the given one, whatever case and quotation marks.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

from convinse.config import load_config
from convinse.heterogeneous_answering.operations import operated
from convinse.heterogeneous_answering.question import AskedQuestion
from convinse.records.evidence import Entity, Evidence, Row
from convinse.records.literals import year_of
from convinse.resources import Resources
from convinse.wikipedia.dump import WikipediaDump
from recipes.embedded.tables import read_questions, read_tables
from recipes.sources import needed, shared_data

_PAGE = "Q0"  # of every table, and unknown to the knowledge base


class _OneTable:
    """Stands for a dump with a single table."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    def table(self, page: str, table: int) -> Sequence[Row]:
        return self.rows


class _TableResources(Resources):
    """Those of a configuration, with one table as dump."""

    rows: Sequence[Row] = ()

    @property
    def wikipedia(self) -> WikipediaDump:
        return cast("WikipediaDump", _OneTable(self.rows))


def table_rows(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[Row]:
    """The rows of a table as the dump has them, without entities."""
    names = [" ".join(name.split()) for name in header]
    return [
        {
            "caption": "",
            "section": "",
            "page": _PAGE,
            "table": 0,
            "number": number,
            "cells": [
                {"header": name, "text": " ".join(text.split()), "entities": [], "start": 0, "column": column}
                for column, (name, text) in enumerate(zip(names, row, strict=False))
                if text.strip()
            ],
        }
        for number, row in enumerate(rows)
    ]


def evidences_of(title: str, rows: Iterable[Row]) -> list[Evidence]:
    """Rows as evidences of a page with this title."""
    own: Entity = {"id": _PAGE, "label": title}
    return [
        {
            "evidence_text": ", ".join(f"{cell['header']} is {cell['text']}" for cell in row["cells"]),
            "source": "table",
            "disambiguations": [],
            "wikidata_entities": [],
            "retrieved_for_entity": own,
            "row": row,
            "mentions": [],
        }
        for row in rows
    ]


def is_right(answer: Entity, gold: str) -> bool:
    """Whether an answer is the given one; of a date its year suffices where a year is given."""
    forms = {answer["id"], answer["label"]}
    if answer["id"].endswith("Z"):
        forms.add(year_of(answer["id"])["label"])
    return _plain(gold) in set(map(_plain, forms))


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace(",", "").split()).strip("\"'“” ")


def measured(data: Path, most: int) -> Counter[tuple[str, bool]]:
    """How often the operations were right, and wrong, by their name."""
    tables = {table.context: (title, table_rows(table.header, table.rows)) for title, table in read_tables(data)}
    questions = list(read_questions(needed(data, "wikitablequestions", "training.tsv.gz")))
    random.Random(0).shuffle(questions)
    counts: Counter[tuple[str, bool]] = Counter()
    with _TableResources(load_config("lexical.yml")) as resources:
        for question, context, gold in questions[:most]:
            if context in tables:
                title, resources.rows = tables[context]
                evidences = evidences_of(title, resources.rows)
                asked = AskedQuestion.of({"question": question, "top_evidences": evidences}, "||", resources)
                if given := operated(asked)[1]:
                    counts[given[0].reasons[0], is_right(given[0].entity, gold)] += 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description="How often the operations over rows are right.")
    parser.add_argument("--data", type=Path, default=shared_data(), help="the shared data")
    parser.add_argument("--questions", type=int, default=2000, help="at most so many, by a fixed seed")
    options = parser.parse_args()
    counts = measured(options.data, options.questions)
    for name in sorted({name for name, _ in counts}):
        right, wrong = counts[name, True], counts[name, False]
        print(f"{name:8} {right:4} of {right + wrong:4} right: {right / (right + wrong):.2f}")


if __name__ == "__main__":
    main()
