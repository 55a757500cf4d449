"""The row or the fact that holds the name that a question asks about: "who played X" is answered by the row of X."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ..language.property_names import PropertyWords
from ..records.evidence import Entity, Row
from ..records.facts import Fact, fact_of
from ..records.literals import is_date
from .question import AskedQuestion
from .ranking import AnswerCandidate, in_shares
from .tables import asking_forms, asking_keywords, cell_answers, name_keywords, question_keywords, suits

_LEAST = 0.5  # of a name that a question must have: "Giles" is Rupert Giles


class _Named(NamedTuple):
    place: int
    name: frozenset[str]
    beside: tuple[tuple[str, tuple[Entity, ...]], ...]
    about: frozenset[str]


def named_rows(asked: AskedQuestion) -> list[AnswerCandidate]:
    """What stands beside the name that a question asks about, in rows of tables and in facts with qualifiers.

    The name is in a cell, or is the value of a qualifier (a character role): the one name that has most of the question's words.
    The answer stands in the cell whose header is asked for and whose content fits the expected type; of a fact it is the object.
    Where nothing else of the question is left, no header need be asked for ("And who's Zelda?").
    """
    if asked.expected.kind in ("yesno", "number", "date"):
        return []
    types, words = asked.language.answer_types, asked.language.properties
    # what may be of a name: neither the question's own items nor the type that it asks for
    wanted = question_keywords(asked).difference(*map(types.noun_types, asked.expected.words))
    # nor what a header or a property is asked for by: "directed" is no part of a name
    labels = {cell["header"] for evidence in asked.evidences if "row" in evidence for cell in evidence["row"]["cells"]}
    labels |= {fact.predicate["label"] for evidence in asked.evidences if (fact := fact_of(evidence))}
    called = words.keywords(" ".join(labels))
    meant = wanted - frozenset(word for word in wanted if asking_forms([word], words) & called)
    told = words.keywords(asked.in_full)
    names = list(_all_named(meant, asked)) if meant else []
    best = max((_matching(named.name, meant) for named in names), default=None)
    first = [named for named in names if _matching(named.name, meant) == best]
    if len({named.name for named in first}) > 1:
        return []
    # of several rows of that name the one that holds most of the question: the final of that year
    held = [len(words.keywords(asked.evidences[named.place]["evidence_text"]) & told) for named in first]
    first = [named for named, count in zip(first, held, strict=True) if count == max(held)]
    given: dict[str, AnswerCandidate] = {}
    for named in first:
        for entity in _beside(named, wanted, asked):
            known = given.setdefault(entity["id"], AnswerCandidate(entity, 1.0, (), ("role",)))
            given[entity["id"]] = known._replace(places=(*known.places, named.place))
    return in_shares(list(given.values()))


def _all_named(meant: AbstractSet[str], asked: AskedQuestion) -> Iterator[_Named]:
    for place, evidence in enumerate(asked.evidences):
        if fact := fact_of(evidence):
            yield from _of_fact(place, fact, meant, asked.language.properties)
        elif "row" in evidence:
            yield from _of_row(place, evidence["row"], meant, asked)


def _of_fact(place: int, fact: Fact, meant: AbstractSet[str], words: PropertyWords) -> Iterator[_Named]:
    for qualifier in fact.qualifiers:
        name = words.keywords(qualifier.value["label"])
        if not is_date(qualifier.value["id"]) and _matching(name, meant)[1] >= _LEAST:
            called = words.keywords(f"{qualifier.predicate['label']} {fact.subject['label']}")
            yield _Named(place, name, ((fact.predicate["label"], (fact.object,)),), called)


def _of_row(place: int, row: Row, meant: AbstractSet[str], asked: AskedQuestion) -> Iterator[_Named]:
    words = asked.language.properties
    for cell in row["cells"]:
        name = name_keywords(cell, words)
        if _matching(name, meant)[1] >= _LEAST:
            above = words.keywords(f"{row['caption']} {row['section']} {row.get('part', '')} {cell['header']}")
            rest = (neighbour for neighbour in row["cells"] if neighbour is not cell)
            beside = tuple((neighbour["header"], tuple(cell_answers(neighbour, asked))) for neighbour in rest)
            yield _Named(place, name, beside, above)


def _matching(name: AbstractSet[str], meant: AbstractSet[str]) -> tuple[int, float]:
    """How many words of a name a question has, and how much of the name these are; digits alone are no name."""
    held = name & meant
    return (len(held), len(held) / len(name)) if any(map(str.isalpha, held)) else (0, 0.0)


def _beside(named: _Named, wanted: AbstractSet[str], asked: AskedQuestion) -> Sequence[Entity]:
    """What stands beside a name: where nothing there is asked for, the question must be of the name alone."""
    asking = asking_keywords(asked)
    suited = [(suits(header, entities, asking, asked), entities) for header, entities in named.beside]
    score, entities = max(suited, key=lambda given: given[0], default=(0.0, ()))
    is_alone = not wanted - named.name - named.about
    return entities if score > 1 or (score and is_alone) else ()
