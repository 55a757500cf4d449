"""What the tools of the MCP server do: from checked arguments to typed results and a text that tells the same.

All that computes runs in the pipeline's thread, see `TurnQueue`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from ..evidence_retrieval_scoring.bm25 import BM25Scorer, QueryExpansion
from ..evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from ..pipeline import Pipeline
from ..records.conversation import Turn
from ..records.evidence import Entity, Evidence, parse_sources
from ..records.facts import fact_evidence
from ..session import Session
from ..support.http_limits import Limits
from ..support.http_work import RefusedError
from . import mcp_shapes as shapes
from .conversation_store import ConversationStore, check_has_room, open_session
from .questions import checked_question
from .service_metrics import ServiceMetrics
from .turn_queue import StageTold, TurnQueue

_LEAST_SHOWN = 0.005  # score of a further answer that the text names: less is written as 0.00


class ToolAnswer(NamedTuple):
    """What a tool gives: a shape of `mcp_shapes`, and a text for people and models."""

    result: msgspec.Struct
    text: str


class McpTools:
    """The tools, over one pipeline and the conversations that are kept; belongs to one event loop.

    Args:
        pipeline: it is used by these tools only.
        sources: where a call names none.
        most_conversations: that are kept; see `ConversationStore`.
        limits: of what waits.
    """

    def __init__(self, pipeline: Pipeline, sources: Sequence[str], most_conversations: int, limits: Limits) -> None:
        metrics = ServiceMetrics()
        self._pipeline, self._sources = pipeline, tuple(sources)
        self._queue = TurnQueue(pipeline, limits, metrics)
        self._retriever = ClocqRetriever(pipeline.config, resources=pipeline.resources)
        self.conversations = ConversationStore(most_conversations, metrics)

    def close(self) -> None:
        """Wait until nothing uses the pipeline; what has not begun is not done."""
        self._queue.close()
        self._retriever.store_cache()

    async def ask(self, wanted: shapes.AskArguments, told: StageTold | None = None) -> ToolAnswer:
        """The next turn of a conversation, which is kept. Raises `RefusedError`, and whatever a stage raises."""
        question = checked_question(wanted.question)
        sources = None if wanted.sources is None else parse_sources(wanted.sources)
        if wanted.conversation_id is not None and wanted.conversation is not None:
            raise RefusedError("give conversation_id or conversation, not both")
        if wanted.conversation_id is not None:
            with self.conversations.asked(wanted.conversation_id) as session:
                before = session.sources
                session.sources = sources or before
                try:
                    turn = await self._turn(session, question, told)
                except BaseException:  # a cancelled call, too, leaves the conversation as it was
                    session.sources = before
                    raise
            name = wanted.conversation_id
        else:
            session = await open_session(self._pipeline, sources or self._sources, wanted.conversation)
            turn = await self._turn(session, question, told)
            name = self.conversations.add(session)
        return told_turn(turn, name, session.sources, wanted.evidences)

    async def _turn(self, session: Session, question: str, told: StageTold | None) -> Turn:
        check_has_room(session)
        return await self._queue.answer(session, question, told)

    async def retrieve_evidences(self, wanted: shapes.RetrieveArguments, _: StageTold | None = None) -> ToolAnswer:
        """The best evidences of a question, scored."""
        question, sources = checked_question(wanted.question), parse_sources(wanted.sources or self._sources)

        def work() -> list[Evidence]:
            conversation: Any = {"conv_id": "mcp", "questions": [{"turn": 0, "question": question}]}
            (done,) = self._pipeline.run([conversation], sources, use_gold_answers=False, until="ers")
            return done["questions"][0]["top_evidences"]

        return _told_evidences(await self._queue.run(work), wanted.limit)

    async def wikipedia_evidences(self, wanted: shapes.PageArguments, _: StageTold | None = None) -> ToolAnswer:
        """The evidences of an item's Wikipedia page."""

        def work() -> list[Evidence]:
            evidences = self._retriever.retrieve_wikipedia_evidences(wanted.item)
            own = [evidence for evidence in evidences if wanted.sources is None or evidence["source"] in wanted.sources]
            return self._ordered(wanted.about, own)

        return _told_evidences(await self._queue.run(work), wanted.limit)

    async def search_space(self, wanted: shapes.SearchSpaceArguments, _: StageTold | None = None) -> ToolAnswer:
        """The items of a question, and the facts around them."""
        question = checked_question(wanted.question)

        def work() -> shapes.SearchSpaceResult:
            evidences, entities = self._retriever.retrieve_KB_facts(question)
            facts = self._ordered(question, evidences)
            items = [
                self._item(entity["item"], entity["question_word"], entity["score"], entity["rank"])
                for entity in entities
            ]
            return shapes.SearchSpaceResult(items, _told_facts(facts[: wanted.limit]), len(facts))

        result = await self._queue.run(work)
        lines = ["Items:", *map(_item_line, result.items), f"Facts ({len(result.facts)} of {result.total}):"]
        return ToolAnswer(result, "\n".join([*lines, *(fact.text for fact in result.facts)]))

    async def link_entities(self, wanted: shapes.LinkArguments, _: StageTold | None = None) -> ToolAnswer:
        """The names in a text, and the items that they may mean."""
        text = checked_question(wanted.text)

        def work() -> shapes.LinksResult:
            return shapes.LinksResult(
                [
                    shapes.LinkedName(
                        mention.surface, mention.start, mention.end, mention.is_certain,
                        [
                            self._item(candidate.entity, mention.surface, candidate.score, rank)
                            for rank, candidate in enumerate(mention.candidates)
                        ],
                    )
                    for mention in self._pipeline.resources.linker.link(text)
                ]
            )  # fmt: skip

        result = await self._queue.run(work)
        items = [item for mention in result.mentions for item in mention.items]
        return ToolAnswer(result, "\n".join(map(_item_line, items)) or "No item of the knowledge base is named.")

    async def neighborhood(self, wanted: shapes.NeighborhoodArguments, _: StageTold | None = None) -> ToolAnswer:
        """The facts that an item occurs in. Raises `RefusedError` where the item is not known."""

        def work() -> shapes.NeighborhoodResult:
            facts = self._retriever.retrieve_kb_facts_for_item(wanted.item)
            kb = self._pipeline.resources.kb
            if not facts and not kb.has(wanted.item):
                raise RefusedError(
                    f"{wanted.item}: no item of the knowledge base; link_entities finds items by name", 404
                )
            item = kb.entity(wanted.item)
            ordered = self._ordered(wanted.about, [fact_evidence(fact, item) for fact in facts])
            told = _told_facts(ordered[: wanted.limit])
            label, description = kb.label(wanted.item), kb.description(wanted.item)
            return shapes.NeighborhoodResult(wanted.item, label, description, told, len(facts))

        result = await self._queue.run(work)
        head = f"{result.label} ({result.id}): {result.description}"
        counted = f"Facts ({len(result.facts)} of {result.total}):"
        return ToolAnswer(result, "\n".join([head, counted, *(fact.text for fact in result.facts)]))

    @cached_property
    def _scorer(self) -> BM25Scorer:
        resources = self._pipeline.resources
        return BM25Scorer(QueryExpansion(resources.kb.properties(), resources.language), resources.language)

    def _ordered(self, about: str, evidences: list[Evidence]) -> list[Evidence]:
        """Evidences by the words that they share with a text; as they are where there is none."""
        return self._scorer.rank(about, evidences, len(evidences)) if about.strip() else evidences

    def _item(self, item: Entity, mention: str, score: float, rank: int) -> shapes.QuestionItem:
        description = self._pipeline.resources.kb.description(item["id"])
        return shapes.QuestionItem(item["id"], item["label"], description, mention, score, rank)


def told_turn(turn: Turn, name: str, sources: Sequence[str], most: int) -> ToolAnswer:
    """A turn as `ask` gives it.

    Args:
        turn: answered.
        name: the id of its conversation.
        sources: that it was answered from.
        most: evidences that are given: those that support the answers, the best answer's first, else the best ones.
    """
    evidences, answers = turn["top_evidences"], turn["pred_answers"]
    supporting = dict.fromkeys(place for answer in answers for place in answer.get("evidences", []))
    places = list(supporting or range(len(evidences)))[:most]
    numbers = {place: number for number, place in enumerate(places, 1)}
    fields = turn.get("representation")
    result = shapes.AskResult(
        conversation_id=name,
        turn=turn["turn"],
        sources=list(sources),
        answers=[
            shapes.ToldAnswer(
                **answer["answer"],
                score=answer.get("score", 0.0),
                evidences=[numbers[place] for place in answer.get("evidences", []) if place in numbers],
                reasons=answer.get("reasons", []),
            )
            for answer in answers
        ],
        abstained=turn["abstained"]["reason"] if "abstained" in turn else None,
        understood=shapes.Understood(
            in_full=turn.get("resolved_question", turn["question"]),
            entities=fields["entities"] if fields else [],
            context=fields["context"] if fields else [],
            predicate=fields["predicate"] if fields else turn["structured_representation"],
            answer_type=fields["answer_type"] if fields else "",
            from_history=[part["text"] for part in turn.get("history_used", [])],
        ),
        evidences=[_numbered(evidences[place], number) for place, number in numbers.items()],
    )
    return ToolAnswer(result, "\n".join(_turn_lines(result)))


def _turn_lines(result: shapes.AskResult) -> list[str]:
    told = [f"{answer.label} ({answer.id}), score {answer.score:.2f}" for answer in result.answers]
    likely = [text for text, answer in zip(told[1:], result.answers[1:], strict=True) if answer.score >= _LEAST_SHOWN]
    if result.abstained is not None:
        first = f"Not known: {result.abstained}." + (f" At best: {told[0]}" if told else "")
    else:
        first = told[0] if told else "No answer was found."
    return [
        first,
        *map(_evidence_line, result.evidences),
        *([f"Less likely: {'; '.join(likely)}"] if likely else []),
        f"Understood as: {result.understood.in_full}",
        f"Conversation: {result.conversation_id}",
    ]


def _told_evidences(evidences: Sequence[Evidence], most: int) -> ToolAnswer:
    shown = [_numbered(evidence, number) for number, evidence in enumerate(evidences[:most], 1)]
    lines = [f"Evidences ({len(shown)} of {len(evidences)}):", *map(_evidence_line, shown)]
    return ToolAnswer(shapes.EvidencesResult(shown, len(evidences)), "\n".join(lines))


def _numbered(evidence: Evidence, number: int) -> shapes.NumberedEvidence:
    return shapes.NumberedEvidence(
        number,
        evidence["evidence_text"],
        evidence["source"],
        evidence["wikidata_entities"],
        evidence.get("score"),
        evidence.get("retrieved_for_entity"),
    )


def _told_facts(evidences: Sequence[Evidence]) -> list[shapes.ToldFact]:
    return [shapes.ToldFact(evidence["evidence_text"], evidence["fact"]) for evidence in evidences]


def _evidence_line(evidence: shapes.NumberedEvidence) -> str:
    return f"[{evidence.number}] {evidence.source}: {evidence.text}"


def _item_line(item: shapes.QuestionItem) -> str:
    named = f"{item.mention}: " if item.mention else ""
    described = f", {item.description}" if item.description else ""
    return f"{named}{item.label} ({item.id}){described}; score {item.score:.2f}"
