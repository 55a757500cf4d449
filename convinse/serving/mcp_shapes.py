"""What the tools of the MCP server take and give; their JSON schemas are made from these shapes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ..records.evidence import Entity
from ..support.limits import LONGEST_QUESTION

MOST_SHOWN = 200  # evidences or facts of a result: about 60 KB

Source = Literal["kb", "text", "table", "info"]
Sources = Annotated[
    list[Source],
    Meta(
        min_length=1,
        max_length=4,
        description="where answers may come from: kb (Wikidata facts), text, table and info (sentences, table rows and "
        "infobox entries of Wikipedia); all of them by default",
    ),
]
PageSources = Annotated[
    list[Literal["text", "table", "info"]],
    Meta(
        min_length=1,
        max_length=3,
        description="sentences (text), table rows (table), infobox entries (info); all by default",
    ),
]
Question = Annotated[
    str, Meta(min_length=1, max_length=LONGEST_QUESTION, description="the question, in English and plain words")
]
ItemId = Annotated[str, Meta(pattern="^Q[1-9][0-9]{0,17}$", description="the id of a Wikidata item, such as Q42574")]
About = Annotated[
    str,
    Meta(
        max_length=LONGEST_QUESTION,
        description="words or a question: what shares most words with it comes first, else the order is that of the source",
    ),
]
Most = Annotated[int, Meta(ge=1, le=MOST_SHOWN, description="how many are given at most")]


class AskArguments(msgspec.Struct, forbid_unknown_fields=True):
    """What `ask` takes."""

    question: Question
    conversation_id: Annotated[
        str | None,
        Meta(description="of an earlier answer, to go on with that conversation; without it a new one begins"),
    ] = None
    conversation: Annotated[
        dict[str, Any] | None,
        Meta(description="in place of an id: a stored conversation, as its resource gives it, to be taken up"),
    ] = None
    sources: Sources | None = None
    evidences: Annotated[int, Meta(ge=0, le=20, description="how many evidences are given at most")] = 5


class RetrieveArguments(msgspec.Struct, forbid_unknown_fields=True):
    """What `retrieve_evidences` takes."""

    question: Question
    sources: Sources | None = None
    limit: Most = 20


class SearchSpaceArguments(msgspec.Struct, forbid_unknown_fields=True):
    """What `search_space` takes."""

    question: Question
    limit: Most = 50


class LinkArguments(msgspec.Struct, forbid_unknown_fields=True):
    """What `link_entities` takes."""

    text: Annotated[str, Meta(min_length=1, max_length=LONGEST_QUESTION, description="a question or a sentence")]


class NeighborhoodArguments(msgspec.Struct, forbid_unknown_fields=True):
    """What `neighborhood` takes."""

    item: ItemId
    about: About = ""
    limit: Most = 50


class PageArguments(msgspec.Struct, forbid_unknown_fields=True):
    """What `wikipedia_evidences` takes."""

    item: ItemId
    about: About = ""
    sources: PageSources | None = None
    limit: Most = 50


class NumberedEvidence(msgspec.Struct):
    """A piece of evidence: a quotation of Wikidata or Wikipedia, with the items, dates and numbers that it mentions."""

    number: Annotated[int, Meta(description="counts from 1; answers name their evidences by it")]
    text: str
    source: str
    entities: list[Entity]
    score: Annotated[float | None, Meta(description="how well it fits the question, where that was told")] = None
    about: Annotated[Entity | None, Meta(description="the item whose facts or page it is of")] = None


class ToldAnswer(msgspec.Struct):
    """An answer, best first."""

    id: Annotated[str, Meta(description="a Wikidata id, an ISO date or the text itself")]
    label: str
    score: Annotated[float, Meta(description="its probability, 0 to 1; without the trained ranking only an order")]
    evidences: Annotated[
        list[int], Meta(description="numbers of the evidences that support it, of those that are given")
    ]
    reasons: Annotated[list[str], Meta(description="what gave it, such as reader, votes, dates, compare")]


class Understood(msgspec.Struct):
    """How the question was understood."""

    in_full: Annotated[str, Meta(description="the question with what the conversation adds to it")]
    entities: list[Entity]
    context: list[Entity]
    predicate: str
    answer_type: str
    from_history: Annotated[list[str], Meta(description="words that were taken from earlier turns")]


class AskResult(msgspec.Struct):
    """A turn of a conversation."""

    conversation_id: Annotated[str, Meta(description="give it with the next question of the same conversation")]
    turn: Annotated[int, Meta(description="counts from 0")]
    sources: list[str]
    answers: Annotated[list[ToldAnswer], Meta(description="best first; empty where nothing was found")]
    abstained: Annotated[
        str | None, Meta(description="why there is no answer that one can rely on; the answers are guesses then")
    ]
    understood: Understood
    evidences: list[NumberedEvidence]


class EvidencesResult(msgspec.Struct):
    """Evidences, best first."""

    evidences: list[NumberedEvidence]
    total: Annotated[int, Meta(description="how many there are; those that are given are the first of them")]


class QuestionItem(msgspec.Struct):
    """An item that a text may be about."""

    id: str
    label: str
    description: str
    mention: Annotated[str, Meta(description="the words that name it; empty where it stands between others")]
    score: float
    rank: Annotated[int, Meta(description="of the meanings of its mention, from 0")]


class ToldFact(msgspec.Struct):
    """A fact of Wikidata."""

    text: str
    parts: Annotated[
        list[Entity], Meta(description="subject, property, object, then property and value of each qualifier")
    ]


class SearchSpaceResult(msgspec.Struct):
    """The items of a question, and the facts around them."""

    items: list[QuestionItem]
    facts: Annotated[list[ToldFact], Meta(description="those that share most words with the question first")]
    total: Annotated[int, Meta(description="how many facts there are")]


class LinkedName(msgspec.Struct):
    """Where a text names something, and what may be meant, best first."""

    mention: str
    start: Annotated[int, Meta(description="of the mention in the text, in characters")]
    end: int
    certain: Annotated[bool, Meta(description="false of a word that may as well mean something else")]
    items: list[QuestionItem]


class LinksResult(msgspec.Struct):
    """The names in a text, from left to right."""

    mentions: list[LinkedName]


class NeighborhoodResult(msgspec.Struct):
    """An item and its facts."""

    id: str
    label: str
    description: str
    facts: list[ToldFact]
    total: Annotated[int, Meta(description="how many facts there are")]


def schema(shape: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON schema of a shape; its root is an object, as MCP wants it."""
    (_,), components = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    root = components.pop(shape.__name__)
    return {**root, "$defs": components} if components else root
