"""The natural questions are what docs/snapshot.md says: verified against the knowledge base and the pages, of all kinds, in three parts."""

import re
from collections import Counter

import pytest

from convinse.formats.convmix import read_conversations
from convinse.language.text import fold
from convinse.records.evidence import SOURCES
from convinse.records.literals import is_date, is_number
from documentation import page
from places import SNAPSHOT

KINDS = """
    alias comparison date earlier_answer ellipsis misspelt name number role simple superlative unanswerable yes_no
""".split()
DOMAINS = {"books", "movies", "music", "soccer", "tvseries"}


@pytest.fixture(scope="module")
def texts(dump):
    """All evidences of all pages, one below the other."""
    return "\n".join(evidence["evidence_text"] for item in dump.items() for evidence in dump.get(item))


@pytest.fixture(scope="module")
def conversations():
    return read_conversations(SNAPSHOT / "conversations" / "natural.json")


@pytest.fixture(scope="module")
def turns(conversations):
    return [turn for conversation in conversations for turn in conversation["questions"]]


def is_item(answer):
    return re.fullmatch(r"Q[0-9]+", answer["id"]) is not None


def is_name(answer):
    literal = is_date(answer["id"]) or is_number(answer["id"]) or answer["id"] in ("Yes", "No")
    return not literal and not is_item(answer)


def names(turns):
    return [answer for turn in turns for answer in turn["answers"] if is_name(answer)]


def plain(question):
    return " ".join(re.findall(r"\w+", question.lower()))


def test_conversations_are_numbered_and_of_all_domains(conversations, turns):
    assert {conversation["domain"] for conversation in conversations} == DOMAINS
    assert len({turn["question_id"] for turn in turns}) == len(turns)
    for conversation in conversations:
        questions = conversation["questions"]
        assert [turn["turn"] for turn in questions] == list(range(len(questions)))
        assert all(turn["question_id"] == f"{conversation['conv_id']}-{turn['turn']}" for turn in questions)
        assert all(turn["question"].strip() for turn in questions)


def test_every_kind_is_in_each_part_and_no_conversation_is_cut(conversations, turns):
    counts = Counter(turn["kind"] for turn in turns)
    assert sorted(counts) == KINDS and min(counts.values()) >= 12
    parts = Counter(conversation["part"] for conversation in conversations)
    assert set(parts) == {"dev", "measured", "fresh"}
    assert parts["dev"] == pytest.approx((parts["dev"] + parts["measured"]) * 11 / 20, abs=2)
    for part in parts:
        kinds = {turn["kind"] for c in conversations if c["part"] == part for turn in c["questions"]}
        assert sorted(kinds) == KINDS, part


def test_fresh_questions_are_at_least_eight_of_each_kind(conversations):
    fresh = (turn for c in conversations if c["part"] == "fresh" for turn in c["questions"])
    assert min(Counter(turn["kind"] for turn in fresh).values()) >= 8


def test_the_documentation_counts_the_kinds(conversations, turns):
    text = page("docs/snapshot.md")
    for kind, count in Counter(turn["kind"] for turn in turns).items():
        assert f"| `{kind}` | {count} |" in text
    assert f"{len(turns)} questions in {len(conversations)} conversations" in text


def test_most_conversations_are_short_and_some_are_long(conversations):
    lengths = [len(conversation["questions"]) for conversation in conversations]
    assert sum(3 <= length <= 5 for length in lengths) > len(lengths) / 2
    assert sum(8 <= length <= 12 for length in lengths) >= 5


def test_a_tenth_has_no_answer_and_the_rest_says_where_it_stands(turns):
    unanswerable = [turn for turn in turns if not turn["answers"]]
    assert 0.08 <= len(unanswerable) / len(turns) <= 0.12
    for turn in turns:
        assert (turn["kind"] == "unanswerable") == (not turn["answers"]), turn["question_id"]
        if turn["answers"]:
            assert turn["answer_source"] in SOURCES and turn["entities"], turn["question_id"]


def test_items_are_those_of_the_knowledge_base(turns, kb):
    for turn in turns:
        for entity in [*filter(is_item, turn["answers"]), *turn.get("entities", [])]:
            assert kb.entity(entity["id"]) == entity, turn["question_id"]


def test_names_without_item_are_unknown_to_the_knowledge_base_and_stand_in_a_page(turns, kb, texts):
    for name in names(turns):
        assert name["id"] == name["label"]
        assert not kb.candidates(fold(name["label"])), name["label"]
        assert name["label"] in texts, name["label"]


def test_a_quarter_of_the_answers_are_names_without_item(turns):
    answerable = [turn for turn in turns if turn["answers"]]
    named = [turn for turn in answerable if names([turn])]
    assert 0.2 <= len(named) / len(answerable) <= 0.3
    assert all(names([turn]) for turn in turns if turn["kind"] == "name")


def test_about_as_many_yes_as_no(turns):
    answers = Counter(turn["answers"][0]["id"] for turn in turns if turn["kind"] == "yes_no")
    assert set(answers) == {"Yes", "No"} and min(answers.values()) >= 0.4 * answers.total()


def test_no_question_is_in_the_other_parts(turns):
    seen = {
        plain(turn[key])
        for part in ("train", "dev", "test")
        for conversation in read_conversations(SNAPSHOT / "conversations" / f"{part}.json")
        for turn in conversation["questions"]
        for key in ("question", "completed")
    }
    same = [turn["question"] for turn in turns if plain(turn["question"]) in seen]
    assert not [question for question in same if len(question.split()) > 4]  # "where was he born?" fits anywhere


def test_no_fresh_question_is_an_earlier_one(conversations):
    def questions(fresh):
        chosen = (c for c in conversations if (c["part"] == "fresh") == fresh)
        return {plain(turn["question"]) for c in chosen for turn in c["questions"]}

    assert not [question for question in questions(True) & questions(False) if len(question.split()) > 3]
