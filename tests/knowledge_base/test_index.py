import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from convinse.knowledge_base import stored_facts
from convinse.knowledge_base.build import build
from convinse.knowledge_base.index import KnowledgeBase
from convinse.support.errors import IndexFileError
from handmade import claim, document, q, string, world, write
from refusals import refused


@pytest.fixture
def folder(workdir, world_index):
    """An index that a test may damage."""
    return shutil.copytree(world_index, workdir / "kb")


def names(facts):
    return [[entity["label"] for entity in fact] for fact in facts]


@pytest.mark.parametrize(
    "entity_id", ["Q404404", "P404404", "1997-12-19T00:00:00Z", "1.83", "", "Q", "Q0", "Q1; DROP TABLE fact", "Yes"]
)
def test_an_unknown_entity_has_only_its_id(world_kb, entity_id):
    assert not world_kb.has(entity_id) and world_kb.label(entity_id) == entity_id
    assert (world_kb.aliases(entity_id), world_kb.description(entity_id)) == ([], "")
    assert (world_kb.frequency(entity_id), world_kb.types(entity_id)) == (0, ())
    assert (world_kb.neighborhood(entity_id), world_kb.neighbors(entity_id)) == ([], set())


def test_types_are_classes_and_occupations_and_the_classes_above(kb_of):
    kb = kb_of(
        document("P31", "instance of"),
        document("Q5", "Human"),
        document("Q1", "Ann", claim("P31", q("Q5")), claim("P106", q("Q33999"))),
        document("Q33999", "actor", claim("P279", q("Q483501"))),
        document("Q483501", "artist", claim("P279", q("Q2500638"))),
        document("Q2500638", "creator", claim("P279", q("Q5"))),
    )
    assert kb.types("Q1") == ("human", "actor", "artist", "creator")
    assert [kb.is_class(item) for item in ("Q33999", "Q5", "Q1")] == [True, True, False]


def test_candidates_of_a_form_say_whether_it_is_the_label(world_kb):
    assert {(c.id, c.is_label) for c in world_kb.candidates("titanic")} == {("Q44578", True), ("Q25173", True)}
    assert {(c.id, c.label, c.is_label) for c in world_kb.candidates("beatles")} == {("Q1299", "The Beatles", False)}
    assert world_kb.candidates("director") == []  # properties are not candidates
    assert world_kb.candidates("Titanic") == []  # forms are folded


def test_names_are_found_by_their_words(world_kb):
    def labels(*words, edits=0):
        return [one.label for one in world_kb.search_names(words, 20, edits)]

    assert labels("cameron") == labels("cameron", "james") == ["James Cameron"]
    assert labels("cameron", "titanic") == []
    rms, ships = ({one.id for one in world_kb.search_names(names, 20)} for names in (["rms", "titanic"], ["titanic"]))
    assert rms < ships
    assert labels("camerron") == []
    assert labels("camerron", edits=1) == ["James Cameron"]
    assert len(world_kb.search_names(["titanic"], 1)) == 1


def test_names_that_are_as_frequent_come_in_the_order_of_their_numbers(kb_of):
    kb = kb_of(*(document(f"Q{number}", "Springfield", claim("P1", q("Q5"))) for number in (10, 9, 100)))
    assert [found.id for found in kb.search_names(["springfield"], 5)] == ["Q9", "Q10", "Q100"]


def test_a_neighbourhood_is_subject_facts_then_object_facts_then_qualifier_facts(kb_of):
    kb = kb_of(
        document("Q1", "one", claim("P1", q("Q4"), ("P2", q("Q2"))), claim("P1", q("Q2"))),
        document("Q2", "two", claim("P1", q("Q3")), claim("P2", string("text"))),
        document("P1", "to"),
    )
    facts = [["two", "to", "Q3"], ["two", "P2", "text"], ["one", "to", "two"], ["one", "to", "Q4", "P2", "two"]]
    assert names(kb.neighborhood("Q2")) == facts
    for limit in range(5):
        assert names(kb.first_facts("Q2", limit)) == facts[:limit]
    assert [names(kb.neighborhood("Q2", p)) for p in (1, 2)] == [facts[:2], facts]
    assert kb.neighbors("Q2") == {"Q1", "Q3", "Q4"}  # items: a shared number or year connects nothing
    assert [kb.frequency(item) for item in ("Q1", "Q2")] == [2, 4]


def test_a_fact_shows_dates_and_quantities_with_their_unit(world_kb):
    facts = world_kb.neighborhood("Q38111")
    assert [
        {"id": "Q38111", "label": "Leonardo DiCaprio"},
        {"id": "P569", "label": "date of birth"},
        {"id": "1974-11-11T00:00:00Z", "label": "11 November 1974"},
    ] in facts
    assert ["Leonardo DiCaprio", "height", "1.83 metre"] in names(facts)
    assert ["Titanic", "cast member", "Leonardo DiCaprio", "character role", "Jack Dawson"] in names(facts)
    (height,) = [fact for fact in facts if fact[1]["id"] == "P2048"]
    assert height[2]["id"] == "1.83"


def test_a_read_only_index_is_read_by_several_threads(folder):
    for file in folder.iterdir():
        file.chmod(0o400)
    folder.chmod(0o500)
    with closing(KnowledgeBase(folder)) as kb, ThreadPoolExecutor(4) as pool:
        around = list(pool.map(kb.neighborhood, ["Q44578"] * 4))
    assert all(facts == around[0] and len(facts) == 5 for facts in around)
    folder.chmod(0o700)


@pytest.mark.parametrize("name", ["items", "text", "names/meta.json"])
def test_a_file_of_another_size_is_an_error_at_opening(folder, name):
    with (folder / name).open("ab") as file:
        file.write(b"x")
    refused(IndexFileError, lambda: KnowledgeBase(folder), name, "build it again")


def test_names_of_another_build_are_never_mixed_in(folder, closed):
    kb = closed(KnowledgeBase(folder))
    build(write(folder.parent / "dump.json", world()), folder)
    words = "kb: another build has taken its place since", "open it again"
    refused(IndexFileError, lambda: kb.search_names(["titanic"], 3), *words)
    assert kb.label("Q44578") == "Titanic"


@pytest.mark.parametrize("block", [1, 10, 40])
def test_the_size_of_blocks_changes_nothing(world_kb, monkeypatch, block):
    names = [f"P{number}" for number in (31, 57, 161, 453, 577, 1, 999_999)]
    expected = [(world_kb.frequencies(name), world_kb.neighborhood(name)) for name in names]
    assert expected[0][0][1] > 5 and expected[3][0] == (0, 2)  # the latter in qualifiers only
    monkeypatch.setattr(stored_facts, "BLOCK", block)
    with closing(KnowledgeBase(world_kb.path)) as kb:
        assert [(kb.frequencies(name), kb.neighborhood(name)) for name in names] == expected
