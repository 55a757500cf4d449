import pytest

from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.knowledge_base.build import build
from convinse.knowledge_base.search_space import SearchSpace
from convinse.sources import facts
from convinse.support.cache import Cache
from convinse.support.errors import ConfigError, DataError
from convinse.wikipedia.dump import write_dump
from evidences import evidence, texts
from handmade import world, write
from refusals import refused

QUESTION = "Who directed Titanic with Kate Winslet?"
REPEATED = "Titanic, x, repeated"
SOURCES = ("kb", "text", "table", "info")


def about(text, source, item):
    return evidence(text, source, (item, item))


FILM = [
    about("Titanic, A film.", "text", "Q44578"),
    about("Titanic, Cast, Actor is Kate", "table", "Q202765"),
    about("Titanic, Directed by, Cameron", "info", "Q42574"),
    about(REPEATED, "text", "Q1"),
]
WINSLET = [
    about(REPEATED, "text", "Q2"),
    about(REPEATED, "info", "Q3"),
    about("Winslet, An actress.", "text", "Q202765"),
]
PAGES = [("Q44578", FILM), ("Q202765", WINSLET), ("Q25173", [about("Titanic, A ship.", "text", "Q25173")])]


@pytest.fixture
def data(workdir, world_index):
    write_dump(workdir / "wikipedia.db", PAGES)
    return {
        "kb_path": str(world_index),
        "ers_wikipedia_dump": str(workdir / "wikipedia.db"),
        "ers_cache_path": str(workdir / "cache"),
        "clocq_params": {"k": 1},
        "evr_require_entity": False,
    }


@pytest.fixture
def make(data, closed):
    return lambda **config: closed(ClocqRetriever(parse_config({**data, **config})), "store_cache")


def fresh(make, **config):
    return make(ers_use_cache=False, **config).retrieve_evidences(QUESTION, SOURCES)


def test_facts_and_page_evidences_of_the_question_s_items(make):
    evidences, entities = make().retrieve_evidences(QUESTION, SOURCES)
    assert {entity["item"]["id"] for entity in entities} == {"Q44578", "Q202765"}
    assert all(set(entity) == {"item", "question_word", "score", "rank"} for entity in entities)
    found = texts(evidences)
    assert "Titanic, director, James Cameron" in found
    assert "Titanic, cast member, Kate Winslet, character role, Rose" in found
    assert {"Titanic, A film.", "Winslet, An actress."} <= set(found)
    assert "Titanic, A ship." not in found
    for one in evidences:
        assert one["retrieved_for_entity"] in [entity["item"] for entity in entities]


def test_duplicates_of_text_and_source_are_one_with_the_entities_of_both(make):
    evidences, _ = make().retrieve_evidences(QUESTION, SOURCES)
    repeated = {one["source"]: one for one in evidences if one["evidence_text"] == REPEATED}
    assert texts(evidences).count(REPEATED) == 2
    assert sorted(entity["id"] for entity in repeated["text"]["wikidata_entities"]) == ["Q1", "Q2"]
    assert sorted(repeated["text"]["disambiguations"]) == [["Q1", "Q1"], ["Q2", "Q2"]]
    assert [entity["id"] for entity in repeated["info"]["wikidata_entities"]] == ["Q3"]


def test_the_facts_of_an_item(make):
    retriever = make()
    facts = retriever.retrieve_kb_facts_for_item("Q25188")
    assert [[entity["label"] for entity in fact] for fact in facts][1] == ["Inception", "director", "Christopher Nolan"]
    as_subject, everything = (make(clocq_p=p).retrieve_kb_facts_for_item("Q42574") for p in (1, 2))
    assert (len(as_subject), len(everything)) == (3, 5)  # two films have him as director


def test_a_question_without_names_has_no_evidences(make):
    for _ in range(2):  # the second time from the cache
        assert make().retrieve_evidences("Who wrote it?", SOURCES) == ([], [])


def test_a_cached_value_is_taken_from_the_cache(make, monkeypatch):
    first = make().retrieve_evidences(QUESTION, SOURCES)
    assert first == fresh(make)
    second = make()
    monkeypatch.setattr(type(second.resources.search_space), "search", lambda *_: pytest.fail("searched again"))
    assert second.retrieve_evidences(QUESTION, SOURCES) == first


def test_changing_a_result_changes_no_later_result(make):
    retriever = make()
    expected = fresh(make)
    for _ in range(3):
        evidences, entities = retriever.retrieve_evidences(QUESTION, SOURCES)
        assert (evidences, entities) == expected
        for one in evidences:
            one["wikidata_entities"].clear()
            one["disambiguations"].clear()
            one["retrieved_for_entity"] = {"id": "Q0", "label": ""}
        evidences.clear()
        entities.clear()


VISIBLE = [  # changes that give another result here, so that a stale value would be seen
    {"clocq_params": {"k": 2}},
    {"clocq_params": {"k": 1, "bm25_limit": 3}},
    {"clocq_params": {"k": 1, "h_match": 0.1}},
    {"clocq_params": {"k": 1, "h_conn": 0.9}},
]
HIDDEN = [
    {"clocq_p": 2},
    {"clocq_params": {"k": 1, "p_setting": 2}},
    {"clocq_params": {"k": "AUTO"}},
    {"clocq_params": {"k": 2, "d": 1}},
    {"clocq_params": {"k": 1, "h_rel": 0.9}},
    {"clocq_params": {"k": 1, "h_coh": 0.9}},
]
WIKIPEDIA = [{"evr_min_evidence_length": 18}, {"evr_max_evidence_length": 18}, {"ers_wikipedia_dump": None}]


@pytest.mark.parametrize("change", [*VISIBLE, *WIKIPEDIA], ids=str)
def test_a_changed_parameter_never_returns_a_stale_value(make, change):
    before = make().retrieve_evidences(QUESTION, SOURCES)
    after = make(**change).retrieve_evidences(QUESTION, SOURCES)
    assert after == fresh(make, **change)
    assert after != before
    assert make().retrieve_evidences(QUESTION, SOURCES) == before


@pytest.mark.parametrize("change", [*VISIBLE, *HIDDEN], ids=str)
def test_every_search_parameter_is_part_of_the_cache_key(make, data, change):
    make().retrieve_KB_facts(QUESTION)
    before = set(Cache(data["ers_cache_path"]).keys())
    make(**change).retrieve_KB_facts(QUESTION)
    assert set(Cache(data["ers_cache_path"]).keys()) > before


def test_settings_that_do_not_matter_share_the_cache(make, data):
    make().retrieve_KB_facts(QUESTION)
    before = set(Cache(data["ers_cache_path"]).keys())
    make(name="other", evs_max_evidences=5, ha_max_answers=1).retrieve_KB_facts(QUESTION)
    assert set(Cache(data["ers_cache_path"]).keys()) == before


def test_a_rebuilt_knowledge_base_never_returns_a_stale_value(make, workdir):
    def rebuilt(documents):
        build(write(workdir / "dump.json", documents), workdir / "kb")
        return texts(make(kb_path=str(workdir / "kb")).retrieve_evidences(QUESTION, ("kb",))[0])

    first = rebuilt(world())
    changed = world()
    next(one for one in changed if one["id"] == "Q42574")["labels"]["en"]["value"] = "Jim Cameron"
    assert "Titanic, director, James Cameron" in first
    assert "Titanic, director, Jim Cameron" in rebuilt(changed)
    assert rebuilt(world()) == first


def test_a_rebuilt_wikipedia_dump_never_returns_a_stale_value(make, workdir):
    make().retrieve_evidences(QUESTION, SOURCES)
    write_dump(workdir / "wikipedia.db", [("Q44578", [about("Titanic, Another text.", "text", "Q44578")])])
    assert texts(make().retrieve_evidences(QUESTION, ("text",))[0]) == ["Titanic, Another text."]


# -- as CONVINSE's code calls it ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sources", ["kb_info", "info_kb", ("kb", "info"), {"kb", "info"}, ["infobox", "kb"]])
def test_sources_are_a_list_or_a_combination(make, sources):
    expected = make().retrieve_evidences(QUESTION, ["kb", "info"])
    assert make().retrieve_evidences(QUESTION, sources) == expected and len(expected[0]) > 4


@pytest.mark.parametrize("sources", ["wiki", [], None])
def test_an_invalid_source_is_refused(make, sources):
    refused(ConfigError, lambda: make().retrieve_evidences(QUESTION, sources), "retrieve_evidences: sources")
    refused(ConfigError, lambda: make().filter_evidences([], sources), "filter_evidences: sources")


def test_the_keywords_of_convinse_work(make):
    retriever = make()
    assert retriever.retrieve_evidences(structured_representation=QUESTION, sources="kb") == (
        retriever.retrieve_evidences(text=QUESTION, sources=["kb"])
    )
    assert retriever.retrieve_KB_facts(structured_representation=QUESTION) == retriever.retrieve_KB_facts(QUESTION)
    wikipedia = retriever.wikipedia
    assert wikipedia.retrieve_wp_evidences(question_entity_id="Q44578") == wikipedia.retrieve_wp_evidences("Q44578")


@pytest.mark.parametrize(
    "item",
    [
        "Q44578",
        {"id": "Q44578", "label": "Titanic"},
        {"id": "Q44578"},
        {"item": {"id": "Q44578", "label": "Titanic"}, "question_word": "t", "score": 1.0, "rank": 0},
    ],
)
def test_pages_of_an_item_in_any_of_its_forms(make, item):
    found = make().retrieve_wikipedia_evidences(item)
    assert found == [{**one, "retrieved_for_entity": {"id": "Q44578", "label": "Titanic"}} for one in FILM]


@pytest.mark.parametrize("item", [5, None, {}, {"item": "Q1"}, {"id": None}, ["Q44578"], "Titanic", ""])
def test_an_invalid_item_is_refused(make, item):
    refused(DataError, lambda: make().retrieve_wikipedia_evidences(item), "is not an item; give an id such as Q42")


def test_evidences_are_filtered_as_configured(make):
    found = [
        evidence("one", "kb", ("a", "Q1")),
        evidence("two", "infobox", ("a", "Q1"), ("b", "Q2")),
        evidence("three", "text", ("a", "Q1"), ("b", "Q2"), ("c", "Q3")),
    ]
    assert texts(make(evr_max_entities=2).filter_evidences(found, "kb_info_text")) == ["one", "two"]
    assert texts(make(evr_require_entity=True).filter_evidences(found, ["kb", "text"])) == ["three"]


def test_the_cache_is_reset(make):
    retriever = make()
    retriever.retrieve_evidences(QUESTION, SOURCES)
    assert list(retriever.cache.keys())
    retriever.reset_cache()
    retriever.wikipedia.store_dump()
    assert not list(make().cache.keys())
    make(ers_use_cache=False).reset_cache()


def test_nothing_of_an_earlier_program_is_taken_from_the_cache(make, monkeypatch):
    before = make().retrieve_KB_facts(QUESTION)
    with monkeypatch.context() as patch:
        patch.setattr(facts, "program_id", lambda: "another")
        patch.setattr(SearchSpace, "search", lambda *_: ([], []))
        assert make().retrieve_KB_facts(QUESTION) == ([], [])
    assert make().retrieve_KB_facts(QUESTION) == before
