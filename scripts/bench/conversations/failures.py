"""Failed turns as text to be read by a person."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from convinse.records.evidence import Conversation, Entity, Turn

from .measures import HIT, place_of_gold, rank_of_gold, where_lost

SEED = 10
EVIDENCES = 5


def draw_failures(conversations: Sequence[Conversation], number: int, one_hop: bool) -> list[tuple[Conversation, int]]:
    """Failed turns as (conversation, place), drawn at random but always the same, in the order of the conversations.

    Args:
        conversations: answered.
        number: how many at most.
        one_hop: from one-hop turns only.
    """
    failed = [
        (conversation, place)
        for conversation in conversations
        for place, turn in enumerate(conversation["questions"])
        if where_lost(turn) and (turn["one_hop"] or not one_hop)  # type: ignore[typeddict-item]
    ]
    drawn = random.Random(SEED).sample(range(len(failed)), min(number, len(failed)))
    return [failed[place] for place in sorted(drawn)]


def failure_text(number: int, conversation: Conversation, place: int) -> str:
    """All that the pipeline knew and did of one turn."""
    return "\n".join(_lines(number, conversation, conversation["questions"][place], place))


def _lines(number: int, conversation: Conversation, turn: Turn, place: int) -> Iterator[str]:
    hop = ", one hop" if turn["one_hop"] else ""  # type: ignore[typeddict-item]
    yield f"{number}. {conversation['conv_id']}, {conversation['domain']}, turn {place}{hop}: {where_lost(turn)}"
    for before in conversation["questions"][:place]:
        yield f"   {before['question']} -> {_named(before['answers'])}"
    yield f"   QUESTION        {turn['question']}"
    yield f"   representation  {turn['structured_representation']}"
    if resolved := turn.get("resolved_question"):
        yield f"   resolved        {resolved}"
    linked = turn.get("question_entities", [])
    yield f"   linked          {'; '.join(_linked(one) for one in linked[:HIT]) or 'nothing'}"
    yield f"   gold            {_named(turn['answers'])}"
    answers = [f"{_named([one['answer']])} {one['score']:.2f}" for one in turn["pred_answers"][:HIT]]
    yield f"   predicted       {'; '.join(answers) or 'nothing'}"
    held = place_of_gold(turn)
    yield f"   gold is         answer {rank_of_gold(turn) or '-'}, in evidence {held or '-'} of {len(turn['top_evidences'])}"
    for rank, evidence in enumerate(turn["top_evidences"], 1):
        if rank <= EVIDENCES or rank == held:
            mark = "*" if rank == held else " "
            yield f"   {mark}{rank:3} {evidence.get('score', 0.0):6.2f} {evidence['source']:5} {evidence['evidence_text']}"
    yield ""


def _named(entities: Sequence[Entity]) -> str:
    return ", ".join(one["label"] if one["label"] == one["id"] else f"{one['label']} ({one['id']})" for one in entities)


def _linked(found: dict) -> str:
    return f"{found['question_word']} = {_named([found['item']])} {found['score']:.2f}"
