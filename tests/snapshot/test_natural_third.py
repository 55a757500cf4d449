"""The embedded conversations of `natural-third`: answers that exist, in conversations that no other part has."""

import pytest
from test_natural import DOMAINS, KINDS, is_name, plain

from convinse.formats.convmix import read_conversations
from convinse.records.literals import is_item
from places import SNAPSHOT

CONVERSATIONS = SNAPSHOT / "conversations"


@pytest.fixture(scope="module")
def conversations():
    return read_conversations(CONVERSATIONS / "natural_third.json")


@pytest.fixture(scope="module")
def turns(conversations):
    return [turn for conversation in conversations for turn in conversation["questions"]]


def test_questions_are_numbered_and_of_known_kinds(conversations, turns):
    assert len(turns) == len({turn["question_id"] for turn in turns}) == 82
    assert {conversation["domain"] for conversation in conversations} <= DOMAINS | {"other"}
    assert {conversation["part"] for conversation in conversations} == {"third"}
    assert {turn["kind"] for turn in turns} <= {*KINDS, "list"}


def test_answers_are_items_or_stand_in_a_page(turns, kb, dump):
    texts = "\n".join(evidence["evidence_text"] for item in dump.items() for evidence in dump.get(item))
    for turn in turns:
        assert (turn["kind"] == "unanswerable") == (not turn["answers"]), turn["question_id"]
        for entity in [*turn["answers"], *turn.get("entities", [])]:
            if is_item(entity["id"]):
                assert kb.entity(entity["id"]) == entity, turn["question_id"]
            elif is_name(entity):
                assert entity["id"] == entity["label"] and entity["label"] in texts, turn["question_id"]


def test_no_conversation_is_one_of_another_part(conversations, turns):
    earlier = [
        c for part in ("train", "dev", "test", "natural") for c in read_conversations(CONVERSATIONS / f"{part}.json")
    ]
    assert not {c["conv_id"] for c in conversations} & {c["conv_id"] for c in earlier}
    seen = {plain(turn["question"]) for conversation in earlier for turn in conversation["questions"]}
    same = [turn["question"] for turn in turns if plain(turn["question"]) in seen]
    assert not [question for question in same if len(question.split()) > 4]
