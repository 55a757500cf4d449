"""Conversations with rewrites in one shape, and what a rewrite adds to its question."""

import pytest

from convinse.config import parse_config
from convinse.knowledge_base.linking import EntityLinker
from convinse.language.language import english
from convinse.question_understanding.referents import Referent
from convinse.support.errors import DataError
from recipes.rewritten import added_items, added_words, canard_conversations, embedded
from written import write_lines

WORDS = english().words
CAMERON, ZAPPA = Referent("Q42574", "James Cameron", "person"), Referent("Q127330", "Frank Zappa", "person")


def line(dialog, history, question, rewrite, article="Titanic (film)"):
    return {
        "dialog_id": dialog, "turn": 1 + len(history) // 2, "article": article, "section": "Making", "history": history,
        "question": question, "rewrite": rewrite,
    }  # fmt: skip


@pytest.fixture
def read(world_kb, workdir):
    def read(*lines):
        write_lines("data/hybrid/canard-dev.jsonl.gz", *lines)
        return list(
            canard_conversations(workdir / "data", world_kb, EntityLinker(world_kb, parse_config({}).clocq_params))
        )

    return read


def test_a_dialog_is_a_conversation_with_its_first_question_in_full(read):
    asked, answer = "Who made it?", "James Cameron of Kapuskasing did."
    follow_up = line("a", [asked, answer], "Was he born there?", "Was James Cameron born in Kapuskasing?")
    first, second = read(
        line("a", [], asked, "Who made Titanic?"), follow_up, line("b", [], "When?", "When was Titanic made?")
    )[:2]
    assert (first.group, first.conversation["conv_id"], second.conversation["conv_id"]) == ("Titanic (film)", "a", "b")
    turns = first.conversation["questions"]
    assert [turn["question"] for turn in turns] == ["Who made Titanic?", "Was he born there?"]
    assert turns[1]["completed"] == "Was James Cameron born in Kapuskasing?"
    assert turns[0]["answers"][0] == {"id": answer, "label": answer}
    assert "Q42574" in [item["id"] for item in turns[0]["answers"]] and turns[1]["answers"] == []


@pytest.mark.parametrize(
    ("article", "known"),
    [("Titanic (film)", True), ("Titanic (opera)", False), ("James Cameron", True), ("Nobody At All", False),
     ("Leo DiCaprio", False)],
)  # fmt: skip
def test_the_article_is_known_by_its_label_and_its_class(read, article, known):
    (own,) = read(line("a", [], "Who?", "Who?", article))
    assert own.known is known


def test_missing_data_are_named(world_kb, workdir):
    linker = EntityLinker(world_kb, parse_config({}).clocq_params)
    with pytest.raises(DataError, match="canard-dev"):
        list(canard_conversations(workdir, world_kb, linker))


def test_the_embedded_conversations_have_rewrites():
    conversations = embedded("train")
    turns = [turn for own in conversations for turn in own.conversation["questions"]]
    assert len({own.group for own in conversations}) == len(conversations) == 26
    assert all(turn["completed"] for turn in turns)


def test_added_words_are_content_words_that_the_question_lacks():
    assert added_words("When did they disband?", "When did the Mothers disband?", WORDS) == {"mother"}


@pytest.mark.parametrize(
    ("rewrite", "named"),
    [
        ("When was James Cameron born?", {"Q42574"}),
        ("When was Cameron born?", {"Q42574"}),
        ("When was he born?", set()),
        ("When were Zappa and Cameron born?", {"Q42574", "Q127330"}),
    ],
)
def test_items_that_a_rewrite_names(rewrite, named):
    assert added_items([CAMERON, ZAPPA], "When was he born?", rewrite, WORDS) == named


def test_what_the_question_names_is_not_added():
    assert added_items([CAMERON], "When was Cameron born?", "When was Cameron born?", WORDS) == set()


def test_the_label_that_covers_more_counts():
    town, part = Referent("Q1", "New York City Opera", "thing"), Referent("Q2", "New York", "place")
    assert added_items([part, town], "Who led it?", "Who led the New York City Opera?", WORDS) == {"Q1"}
    longer = Referent("Q3", "New York State Senate", "thing")  # of which half is there
    assert added_items([longer, part], "Who led it?", "Who led New York?", WORDS) == {"Q2"}
