import pytest

from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
from convinse.evidence_retrieval_scoring.passage_retriever import IndexScores, PassageRetriever
from convinse.knowledge_base.linking import EntityLinker
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters
from convinse.pipeline import Pipeline
from convinse.records.evidence import check_evidence
from evidences import evidence
from written import write_lines

PASSAGES = [
    {"id": "1", "title": "Kettle K7", "text": "The kettle K7 was first sold in 2019 and holds 1.7 litres."},
    {"id": "2", "title": "Toaster T2", "text": "The toaster T2 has a warranty of 24 months."},
    {"id": "3", "text": "Returns are free of charge."},
]


@pytest.fixture
def folder(tmp_path):
    build_index(write_lines(tmp_path / "passages.jl", *PASSAGES), tmp_path / "index", Parameters("en"))
    return tmp_path / "index"


def config(folder, **more):
    return parse_config({"ers_passage_index": str(folder), "ers_use_cache": False, **more})


def passages(folder, most=100, link=None):
    return PassageRetriever(PassageIndex(folder), most, link)


def test_passages_are_evidences_with_their_own_entities(folder):
    found = passages(folder).retrieve_passages("When was a kettle first sold?")
    assert [one["evidence_text"].split(",")[0] for one in found] == ["Kettle K7"]
    check_evidence(found[0], "here")
    assert found[0]["source"] == "text" and "retrieved_for_entity" not in found[0]
    ids = [entity["id"] for entity in found[0]["wikidata_entities"]]
    assert ids == ['"Kettle K7"', "2019-01-01T00:00:00Z", "1.7"]
    assert found[0]["disambiguations"] == [["Kettle K7", ids[0]], ["2019", ids[1]], ["1.7", ids[2]]]
    for place, (surface, entity_id) in zip(found[0]["mentions"], found[0]["disambiguations"], strict=True):
        assert found[0]["evidence_text"][place["start"] : place["end"]] == surface and place["id"] == entity_id


def test_a_title_that_is_asked_about_is_no_answer(folder):
    (found,) = passages(folder).retrieve_passages("warranty || toaster T2")
    assert found["retrieved_for_entity"] == {"id": '"Toaster T2"', "label": "Toaster T2"}


def test_items_of_the_knowledge_base_are_linked(tmp_path, world_kb):
    title, item_id = "Kate Winslet", "Q202765"
    path = write_lines(tmp_path / "p.jl", {"id": "1", "title": title, "text": f"A story about {title} from 1950."})
    build_index(path, tmp_path / "linked", Parameters("en"))
    linker = EntityLinker(world_kb, parse_config({}).clocq_params)
    (found,) = passages(tmp_path / "linked", link=linker.link).retrieve_passages("story")
    assert {entity["id"] for entity in found["wikidata_entities"]} == {item_id, "1950-01-01T00:00:00Z"}
    assert [title, item_id] in found["disambiguations"]


def test_the_clocq_retriever_adds_them_to_text_only(folder):
    retriever = ClocqRetriever(config(folder, ers_wikipedia_dump=None))
    found, _ = retriever.retrieve_evidences("warranty of the toaster", ["text"])
    assert [one["source"] for one in found] == ["text"]
    assert retriever.retrieve_evidences("warranty of the toaster", ["table"])[0] == []
    assert ClocqRetriever(parse_config({})).passages.retrieve_passages("kettle") == []


def test_the_pipeline_answers_from_a_private_corpus(folder):
    pipeline = Pipeline(config(folder, ers_wikipedia_dump=None))
    done = pipeline.ask(["When was the kettle K7 first sold?"], "text")
    turn = done["questions"][0]
    assert turn["top_evidences"][0]["evidence_text"].startswith("Kettle K7")
    assert turn["pred_answers"][0]["answer"] == {"id": "2019-01-01T00:00:00Z", "label": "2019"}


def test_given_scores_are_those_of_the_index():
    assert IndexScores().scores("anything", [evidence("a", score=1.5), evidence("b", score=2)]) == [1.5, 2]
