"""The natural questions are what docs/snapshot.md says: verified against the knowledge base and the pages, of all kinds, in four parts."""

import re
from collections import Counter

import pytest

from convinse.formats.convmix import read_conversations
from convinse.language.text import fold
from convinse.records.evidence import SOURCES
from convinse.records.literals import is_date, is_item, is_number
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


def read(*files):
    return [c for file in files for c in read_conversations(SNAPSHOT / "conversations" / f"{file}.json")]


def turns_of(conversations):
    return [turn for conversation in conversations for turn in conversation["questions"]]


@pytest.fixture(scope="module")
def conversations():
    return read("natural")


@pytest.fixture(scope="module")
def turns(conversations):
    return turns_of(conversations)


def is_name(entity):
    literal = is_date(entity["id"]) or is_number(entity["id"]) or entity["id"] in ("Yes", "No")
    return not literal and not is_item(entity["id"])


def plain(question):
    return " ".join(re.findall(r"\w+", question.lower()))


@pytest.mark.parametrize(
    ("file", "domains", "kinds"), [("natural", DOMAINS, {*KINDS}), ("natural_third", DOMAINS | {"other"}, {*KINDS, "list"})]
)  # fmt: skip
def test_questions_are_numbered_and_their_answers_are_items_or_stand_in_a_page(kb, texts, file, domains, kinds):
    for conversation in read(file):
        assert conversation["domain"] in domains
        for number, turn in enumerate(conversation["questions"]):
            place = f"{conversation['conv_id']}-{number}"
            assert (turn["turn"], turn["question_id"]) == (number, place) and turn["question"].strip()
            assert turn["kind"] in kinds and (turn["kind"] == "unanswerable") == (not turn["answers"]), place
            for entity in [*turn["answers"], *turn.get("entities", [])]:
                if is_item(entity["id"]):
                    assert kb.entity(entity["id"]) == entity, place
                elif is_name(entity):
                    assert entity["id"] == entity["label"] and entity["label"] in texts, place


@pytest.mark.parametrize(
    ("file", "others"), [("natural", ("train", "dev", "test")), ("natural_third", ("train", "dev", "test", "natural"))]
)
def test_no_conversation_and_no_question_is_one_of_another_part(file, others):
    conversations, earlier = read(file), read(*others)
    assert not {c["conv_id"] for c in conversations} & {c["conv_id"] for c in earlier}
    seen = {plain(turn[key]) for turn in turns_of(earlier) for key in ("question", "completed") if key in turn}
    same = [turn["question"] for turn in turns_of(conversations) if plain(turn["question"]) in seen]
    assert not [question for question in same if len(question.split()) > 4]  # "where was he born?" fits anywhere


def test_every_kind_is_in_each_part_and_no_conversation_is_cut(conversations, turns):
    assert min(Counter(turn["kind"] for turn in turns).values()) >= 12
    parts = {part: [c for c in conversations if c["part"] == part] for part in ("dev", "measured", "fresh")}
    assert sum(map(len, parts.values())) == len(conversations)
    assert len(parts["dev"]) == pytest.approx((len(parts["dev"]) + len(parts["measured"])) * 11 / 20, abs=2)
    kinds = {part: Counter(turn["kind"] for turn in turns_of(chosen)) for part, chosen in parts.items()}
    assert all(sorted(counts) == KINDS for counts in kinds.values())
    assert min(kinds["fresh"].values()) >= 8


def test_the_documentation_counts_the_kinds(conversations, turns):
    text = page("docs/snapshot.md")
    for kind, count in Counter(turn["kind"] for turn in turns).items():
        assert f"| `{kind}` | {count} |" in text
    assert f"{len(turns)} questions in {len(conversations)} conversations" in text


def test_most_conversations_are_short_and_some_are_long(conversations):
    lengths = [len(conversation["questions"]) for conversation in conversations]
    assert sum(3 <= length <= 5 for length in lengths) > len(lengths) / 2
    assert sum(8 <= length <= 12 for length in lengths) >= 5


def test_a_tenth_has_no_answer_a_quarter_a_name_without_an_item_and_as_many_yes_as_no(turns, kb):
    answerable = [turn for turn in turns if turn["answers"]]
    assert 0.08 <= 1 - len(answerable) / len(turns) <= 0.12
    assert all(turn["answer_source"] in SOURCES and turn["entities"] for turn in answerable)
    named = [turn for turn in answerable if any(map(is_name, turn["answers"]))]
    assert 0.2 <= len(named) / len(answerable) <= 0.3
    assert not [turn for turn in answerable if turn["kind"] == "name" and turn not in named]
    assert not [
        answer for turn in named for answer in filter(is_name, turn["answers"]) if kb.candidates(fold(answer["label"]))
    ]
    answers = Counter(turn["answers"][0]["id"] for turn in turns if turn["kind"] == "yes_no")
    assert set(answers) == {"Yes", "No"} and min(answers.values()) >= 0.4 * answers.total()


def test_no_fresh_question_is_an_earlier_one(conversations):
    def questions(fresh):
        chosen = (c for c in conversations if (c["part"] == "fresh") == fresh)
        return {plain(turn["question"]) for turn in turns_of(chosen)}

    assert not [question for question in questions(True) & questions(False) if len(question.split()) > 3]
