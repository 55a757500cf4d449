"""Suggested follow-ups: questions for properties of the items of a turn that have a value, so that they can be answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from ..documents.suggestions import questions_about
from ..records.conversation import Turn
from ..records.literals import is_item
from ..resources import Resources

_MOST = 3  # suggestions of a turn
_VALUES = 2  # of a property; on train, dev and natural-dev 396 of 398 such questions were answered, half of those with more values


def follow_ups(turn: Turn, history: Sequence[Turn], sources: Sequence[str], resources: Resources) -> list[str]:
    """Return up to three questions about the items of an answered turn and its answer, or from the document that answered it.

    Questions of `history` are not suggested again; properties are suggested only if `kb` is among the sources.
    """
    language = resources.language
    said = {language.properties.keywords(earlier["question"]) for earlier in (turn, *history)}
    of_items: Iterable[str] = ()
    if "kb" in sources:  # alternately about the items of the question and the answer
        representation = turn.get("representation")
        topics = [*representation["entities"], *representation["context"]] if representation else []
        best = [answer["answer"] for answer in turn["pred_answers"][:1]]
        if "abstained" not in turn:
            topics[1:1] = best
        answers = {entity["id"] for entity in chain(best, *(earlier.get("answers", []) for earlier in history))}
        items = dict.fromkeys(topic["id"] for topic in topics if is_item(topic["id"]))
        rows = zip_longest(*(_of_item(item, answers, resources) for item in items))
        of_items = filter(None, chain.from_iterable(rows))
    # the cited evidences answer the question of the turn
    cited = {place for answer in turn["pred_answers"][:1] for place in answer.get("evidences", [])}
    further = (evidence for place, evidence in enumerate(turn["top_evidences"]) if place not in cited)
    of_documents = questions_about([evidence for evidence in further if "citation" in evidence])
    chosen: dict[str, None] = {}
    for question in chain(of_items, of_documents):
        if language.properties.keywords(question) not in said:
            chosen[question] = None
        if len(chosen) == _MOST:
            break
    return list(chosen)


def _of_item(item: str, answers: set[str], resources: Resources) -> Iterator[str]:
    kb, language = resources.kb, resources.language
    properties = set(kb.properties_of(item))
    for name, wording in language.follow_ups.questions.items():
        if name not in properties:
            continue
        number = int(name[1:])
        values = {*kb.objects(item, number), *(literal["id"] for literal in kb.literals(item, (number,))[number])}
        if len(values) > _VALUES or values & answers:
            continue
        question = wording.format(language.follow_ups.named(kb.label(item)))
        mentions = resources.linker.link(question)
        if len(mentions) == 1 and mentions[0].candidates[0].id == item:  # the label alone names it
            yield question
