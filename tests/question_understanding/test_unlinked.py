"""Names that no item carries: found in pages, or nowhere."""

import pytest

from convinse.config import parse_config
from convinse.language.language import english
from convinse.question_understanding.slots import Slots
from convinse.question_understanding.unlinked import UnlinkedNames, as_candidates
from convinse.wikipedia.dump import WikipediaDump, write_dump
from evidences import evidence
from handmade import world
from histories import play
from opened import resources_of

PAGES = {
    "Q44578": "Titanic, Molly Brown was played by Kathy Bates, and Ruth DeWitt by Frances Fisher.",
    "Q25188": "Inception, Mal has a gyroscope; Jack and Jill have none.",
    "Q42574": "James Cameron, He was born in Kapuskasing; Molly is a dog.",
}


@pytest.fixture
def dump(workdir):
    write_dump(workdir / "w.db", [(item, [evidence(text, "text")]) for item, text in PAGES.items()])
    opened = WikipediaDump(workdir / "w.db")
    yield opened
    opened.close()


@pytest.fixture
def names(world_kb, dump):
    return UnlinkedNames(world_kb, english(), dump)


def found(names, question, *items):
    return {name["name"]: [page["id"] for page in name["pages"]] for name in names.find(question, [], set(), items)}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who played Molly Brown?", {"Molly Brown": ["Q44578"]}),
        ("who played dewitt", {"dewitt": ["Q44578"]}),
        ("Who was Kathy Bates's Molly?", {"Kathy Bates": ["Q44578"], "Molly": ["Q42574", "Q44578"]}),
        ("How old is Brindle Oakshott?", {"Brindle Oakshott": []}),
        ("how old is brindle oakshott", {"brindle oakshott": []}),
        ("what does the xylograph", {}),  # one rare word may be no name
        ("Were Jack and Mal there?", {"Jack": ["Q25188"], "Mal": ["Q25188"]}),
        ("Were Jack and Jill there?", {"Jack and Jill": ["Q25188"]}),
        ("What is on TV?", {}),
        ("Hello, who is it?", {}),
        ("Which shoes did they wear?", {}),
        ("", {}),
    ],
)
def test_names_are_looked_for_in_pages(names, question, expected):
    assert found(names, question) == expected


def test_the_pages_of_the_topic_come_before_all_others(names):
    assert found(names, "Who is Molly?", "Q44578") == {"Molly": ["Q44578"]}
    assert found(names, "Who is Mal?", "Q44578") == {"Mal": ["Q25188"]}


def test_what_was_talked_about_is_no_unknown_name(names):
    assert names.find("Who is Brindle?", [], {"brindle"}, []) == []


def test_without_a_dump_names_are_unknown_still(world_kb):
    names = UnlinkedNames(world_kb, english(), None)
    assert found(names, "Who is Molly Brown?") == {"Molly Brown": []}
    assert found(names, "who is molly brown") == {}
    assert names.pages([], ["dog"]) == []


def test_an_item_that_is_looked_at_already_is_no_candidate_again():
    pages = [{"id": "Q1", "label": "Alien"}, {"id": "Q2", "label": "Jaws"}]
    first, second = as_candidates([{"name": "Quint", "pages": pages}, {"name": "Orca", "pages": pages}], set())
    assert (first["question_word"], first["score"], first["rank"], second["rank"]) == ("Quint", 0.5, 0, 1)
    assert [item["item"]["id"] for item in as_candidates([{"name": "Quint", "pages": pages}], {"Q1"})] == ["Q2"]


@pytest.fixture
def slots(kb_of, workdir, dump):
    kb = kb_of(*world())
    return Slots(parse_config({}), resources_of(kb, ers_wikipedia_dump=str(workdir / "w.db")))


def candidates(turn):
    return [candidate["item"]["id"] for candidate in turn["representation"]["candidates"]]


def test_what_names_nothing_known_is_about_the_pages_that_tell_of_it(slots):
    turn, _ = play(slots, ("Who was Molly Brown?",))
    assert candidates(turn) == ["Q44578"] and turn["representation"]["entities"] == []
    assert [name["name"] for name in turn["representation"]["unlinked"]] == ["Molly Brown"]
    turn, _ = play(slots, ("What is the gyroscope?",))  # no name, but a rare word
    assert candidates(turn) == ["Q25188"] and "unlinked" not in turn["representation"]
    turn, _ = play(slots, ("How was the dog today?",))  # nor such a word
    assert candidates(turn) == []


def test_a_question_that_is_tied_to_what_is_known_is_not_about_other_pages(slots):
    turn, _ = play(slots, ("Was Mal in Titanic?",))
    assert candidates(turn)[0] == "Q44578" and "Q25188" not in candidates(turn)
    assert turn["representation"]["unlinked"][0]["pages"] == [{"id": "Q25188", "label": "Inception"}]
