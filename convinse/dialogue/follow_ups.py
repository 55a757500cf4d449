"""Questions that may be asked next: of properties that what was spoken of has a value of, so that they can be answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from ..documents.suggestions import questions_about
from ..knowledge_base.index import KnowledgeBase
from ..knowledge_base.linking import EntityLinker
from ..language.language import Language
from ..records.conversation import Turn
from ..records.evidence import Entity
from ..records.literals import is_item
from ..resources import Resources

_MOST = 3  # suggestions of a turn
_VALUES = 2  # of a property; of those with as many 396 of 398 were answered on the topics of train, dev and natural-dev, of those with more half


def follow_ups(turn: Turn, history: Sequence[Turn], sources: Sequence[str], resources: Resources) -> list[str]:
    """Up to three questions about what a turn is about, about its answer, or of the document that answered it.

    Args:
        turn: answered.
        history: the turns before, as `history_turn` gives them; what they asked is not suggested again.
        sources: of the turn; properties are asked for only where `kb` is among them.
        resources: of the pipeline.
    """
    kb, language = resources.kb, resources.language
    said = {language.properties.keywords(own["question"]) for own in (turn, *history)}
    if kb.has_facts:
        known = _answers(turn, history)
        suggested = _about_items(turn, known, kb, resources.linker, language) if "kb" in sources else iter(())
    else:
        said_by = {place for answer in turn["pred_answers"][:1] for place in answer.get("evidences", [])}
        rest = [own for place, own in enumerate(turn["top_evidences"]) if place not in said_by]
        suggested = questions_about(rest)  # the others answer what was just asked
    chosen: dict[str, None] = {}
    for question in suggested:
        if language.properties.keywords(question) not in said:
            chosen[question] = None
        if len(chosen) == _MOST:
            break
    return list(chosen)


def _answers(turn: Turn, history: Sequence[Turn]) -> set[str]:
    own = [answer["answer"] for answer in turn["pred_answers"][:1]]
    return {entity["id"] for entity in chain(own, *(earlier.get("answers", []) for earlier in history))}


def _about_items(
    turn: Turn, known: set[str], kb: KnowledgeBase, linker: EntityLinker, language: Language
) -> Iterator[str]:
    """Questions about what the turn is about and about its answer, by turns."""
    representation = turn.get("representation")
    topics = [*representation["entities"], *representation["context"]] if representation else []
    if "abstained" not in turn:
        topics[1:1] = [answer["answer"] for answer in turn["pred_answers"][:1]]
    items = {topic["id"]: topic for topic in topics if is_item(topic["id"])}
    rows = zip_longest(*(_of_item(item, known, kb, linker, language) for item in items.values()))
    return (question for question in chain.from_iterable(rows) if question)


def _of_item(
    item: Entity, known: set[str], kb: KnowledgeBase, linker: EntityLinker, language: Language
) -> Iterator[str]:
    """The questions about an item that its name is enough for, but those that known answers answer."""
    values = set(kb.properties_of(item["id"]))
    for name, wording in language.follow_ups.questions.items():
        number = int(name[1:])
        if name not in values:
            continue
        literals = (own["id"] for own in kb.literals(item["id"], (number,))[number])
        own = {*kb.objects(item["id"], number), *literals}
        if len(own) > _VALUES or own & known:
            continue
        question = wording.format(language.statements.named(kb.label(item["id"])))
        mentions = linker.link(question)
        if len(mentions) == 1 and mentions[0].candidates[0].id == item["id"]:
            yield question
