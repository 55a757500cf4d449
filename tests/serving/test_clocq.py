"""The CLOCQ HTTP API, driven as CLOCQ's own client drives it and as it should not be driven."""

from contextlib import closing

import numpy as np
import pytest

from case_tables import each_case
from convinse.config import ClocqParams
from convinse.knowledge_base.build import build
from convinse.knowledge_base.clocq_api import ClocqService
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.search_space import SearchSpace
from handmade import claim, document, q, string, world, write
from loopback import clocq_server
from services import ask, exchange

TITANIC, CAMERON, DICAPRIO, FILM, HUMAN = "Q44578", "Q42574", "Q38111", "Q11424", "Q5"
QUESTION = "Who directed Titanic with Kate Winslet?"
DATE = "1997-12-19T00:00:00Z"


MORE = [
    document("Q900", "The Busy One", claim("P31", q(HUMAN)), claim("P106", q("Q2526255")), claim("P569", string("x"), ("P57", q("Q901")))),
    document("Q901", "The Famous One"),
    *(document(f"Q{number}", f"fan {number}", claim("P50", q("Q900"))) for number in range(910, 915)),
]  # fmt: skip


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clocq")
    build(write(folder / "dump.json", [*world(), *MORE]), folder / "kb")
    with closing(KnowledgeBase(folder / "kb")) as kb:
        yield kb


@pytest.fixture(scope="module")
def port(kb):
    with clocq_server(kb) as port:
        yield port


@pytest.fixture
def post(port):
    """The JSON answer to a request."""
    return lambda path, **request: exchange(port, "POST", path, request)


def labels(fact):
    return [entity["label"] for entity in fact]


def ids(facts):
    return [[entity["id"] for entity in fact] for fact in facts]


@each_case("clocq")
def test_answers(post, case):
    assert post(case["path"], **case["request"]) == case["answer"]


UNKNOWN = ["Q99999999999999999", "P99999", '"quoted"', "", "Q042", "42\n", "1997-13-01T00:00:00Z"]
DATES = {DATE: "19 December 1997", f'"{DATE}"': "19 December 1997", "1952-01-01T00:00:00Z": "1952"}


@pytest.mark.parametrize(("item", "label"), [*zip(UNKNOWN, UNKNOWN, strict=True), *DATES.items()])
def test_unknown_ids_and_literals_have_neither_types_nor_facts(post, item, label):
    assert post("/item_to_label", item=item) == label
    assert post("/item_to_labels", item=item) == [label]
    assert post("/item_to_aliases", item=item) == [item]
    assert post("/item_to_description", item=item) == "None"
    assert post("/item_to_types", item=item) == []
    assert post("/item_to_type", item=item) is None
    assert post("/frequency", item=item) == [0, 0]
    assert post("/neighborhood", item=item) == post("/two_hop_neighborhood", item=item) == []
    assert post("/connect", item1=item, item2=TITANIC) is None
    assert post("/connectivity_check", item1=TITANIC, item2=item) == 0


def test_neighborhood(post, kb):
    facts = post("/neighborhood", item=TITANIC, p=1000, include_labels=True, include_type=False)
    assert facts == kb.neighborhood(TITANIC, 1000)
    assert ["Titanic", "cast member", "Kate Winslet", "character role", "Rose"] in map(labels, facts)
    assert post("/neighborhood", item=TITANIC) == facts  # the client's defaults are the server's
    assert post("/neighborhood", item=TITANIC, p=None, include_labels=None, include_type=None) == facts
    without_labels = post("/neighborhood", item=TITANIC, include_labels=False, include_type=True)  # as CLOCQ does
    assert without_labels == ids(facts)
    typed = post("/neighborhood", item=TITANIC, include_type=True)
    assert [
        {"id": TITANIC, "label": "Titanic", "type": {"id": FILM, "label": "film"}},
        {"id": "P57", "label": "director", "type": None},
        {"id": CAMERON, "label": "James Cameron", "type": {"id": "Q5", "label": "human"}},
    ] in typed
    two_hops = post("/two_hop_neighborhood", item=TITANIC, p=1000)
    assert two_hops == kb.two_hop_neighborhood(TITANIC, 1000)
    assert post("/two_hop_neighborhood", item=TITANIC, include_labels=False) == ids(two_hops)


@pytest.mark.parametrize(("item", "distance"), [(CAMERON, b"1"), ("Q25188", b"0.5")])
def test_two_items_are_connected_by_facts_and_a_bare_number(post, port, item, distance):
    status, _, body = ask(port, "POST", "/connectivity_check", {"item1": TITANIC, "item2": item})
    assert (status, body) == (200, distance)
    assert all(len(path) == 2 for path in post("/connect", item1=CAMERON, item2=DICAPRIO))
    assert post("/connect", item1=CAMERON, item2=CAMERON) == [[fact] for fact in post("/neighborhood", item=CAMERON)]


def test_search_space(post, kb):
    found = post("/search_space", question=QUESTION, parameters={}, include_labels=True, include_type=False)
    facts, entities = SearchSpace(kb, ClocqParams(), 1000).search(QUESTION)
    assert found == {"kb_item_tuple": entities, "search_space": [fact for fact, _ in facts]}
    assert {one["item"]["id"] for one in found["kb_item_tuple"]} >= {TITANIC, "Q202765"}
    assert all(set(one) == {"item", "question_word", "score", "rank"} for one in found["kb_item_tuple"])
    assert ["Titanic", "director", "James Cameron"] in map(labels, found["search_space"])
    assert post("/search_space", question=QUESTION) == found
    assert post("/search_space", question=QUESTION, parameters=None) == found
    assert post("/search_space", question=QUESTION, include_labels=False)["search_space"] == ids(found["search_space"])
    typed = post("/search_space", question=QUESTION, include_type=True)["search_space"]
    assert all("type" in entity for fact in typed for entity in fact) and ids(typed) == ids(found["search_space"])


@pytest.mark.parametrize("prefix", ["/api", "/linking_api"])
def test_the_prefixes_of_the_public_server(post, prefix):
    for path, request in (("/item_to_label", {"item": TITANIC}), ("/entity_linking", {"question": QUESTION})):
        assert post(prefix + path, **request) == post(path, **request)


def test_entity_linking_has_the_shape_of_the_linking_api(post, kb):
    answer = post("/entity_linking", question=QUESTION, parameters={}, k="AUTO")  # what the client sends
    entities = SearchSpace(kb, ClocqParams(), 1000).question_entities(QUESTION)
    assert answer["linkings"] == [{"item": one["item"], "mention": one["question_word"]} for one in entities]
    assert {"item": {"id": TITANIC, "label": "Titanic"}, "mention": "Titanic"} in answer["linkings"]
    assert sorted(answer["mentions"]) == ["Kate Winslet", "Titanic"]


@pytest.mark.parametrize(
    "request_", [{"k": 1}, {"k": "1"}, {"k": "AUTO", "parameters": {"k": 1}}, {"k": 3, "parameters": {"k": "1"}}]
)
def test_k_is_a_number_or_text_and_that_of_the_parameters_counts(post, request_):
    linkings = post("/entity_linking", question=QUESTION, **request_)["linkings"]
    assert [linking["mention"] for linking in linkings] == sorted({"Titanic", "Kate Winslet"}, reverse=True)
    assert len(post("/entity_linking", question=QUESTION, k="9")["linkings"]) > 2
    assert post("/entity_linking", question=QUESTION, k="auto") == post("/entity_linking", question=QUESTION)


def test_the_model_chooses_among_properties_and_finds_those_that_are_not_named(kb):
    def embed(texts):  # the words "performed" and "cast" mean the same; so do "birth" and "life"
        words = [("performed", "cast"), ("life", "birth")]
        rows = [[any(word in text for word in pair) for pair in words] + [0.1] for text in texts]
        vectors = np.array(rows, "f4")
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    service = ClocqService(kb, embed)
    shape, relation_linking = service.functions["/relation_linking"]

    def linked(question, **more):
        return [one["item"]["id"] for one in relation_linking(shape(question=question, **more))["linkings"]]

    assert linked("Who performed in Titanic?") == ["P161"]
    assert linked("Whose life began then?") == ["P569"]
    several = linked("Who performed in Titanic?", top_ranked=False)
    assert several[0] == "P161" and len(several) > 1
    assert linked("Who directed Titanic?") == ["P57"]  # a name counts more


def test_properties_have_a_frequency_and_a_neighborhood(post, kb):
    facts = [fact for item in (TITANIC, "Q25188", "Q24871") for fact in ids(kb.neighborhood(item)) if fact[1] == "P57"]
    answer = ids(post("/neighborhood", item="P57"))
    assert all(fact in answer for fact in facts) and all("P57" in fact[1::2] for fact in answer)
    assert ["Q900", "P569", "x", "P57", "Q901"] in answer  # in a qualifier
    assert post("/frequency", item="P57") == [0, len(answer)] and len({tuple(fact) for fact in answer}) == len(answer)
    assert post("/neighborhood", item="P57", p=len(answer) - 1) == []  # pruned: a property is not a subject
    assert len(post("/two_hop_neighborhood", item="P57")) > len(answer)
    assert post("/frequency", item="P999999") == [0, 0] and post("/neighborhood", item="P999999") == []


def test_p_keeps_only_the_facts_as_subject_of_what_has_more_than_p_others(post, kb):
    as_subject = ids(kb.first_facts("Q900", 3))
    assert ids(post("/neighborhood", item="Q900", p=4)) == as_subject
    for p in (5, "5", 0, False, None, 1000):
        assert len(post("/neighborhood", item="Q900", p=p)) == 8
    assert ids(post("/two_hop_neighborhood", item="Q900", p=4))[:3] == as_subject
