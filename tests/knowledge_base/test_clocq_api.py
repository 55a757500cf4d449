"""The CLOCQ API answers as CLOCQ does: its shapes, its parameters, its missing values."""

from contextlib import closing

import msgspec
import numpy as np
import pytest

from convinse.config import ClocqParams
from convinse.knowledge_base.build import build
from convinse.knowledge_base.clocq_api import ClocqService
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.search_space import SearchSpace
from handmade import claim, document, q, string, world, write

TITANIC, CAMERON, HUMAN = "Q44578", "Q42574", "Q5"
QUESTION = "Who directed Titanic with Kate Winslet?"
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
def service(kb):
    return ClocqService(kb)


@pytest.fixture(scope="module")
def post(service):
    """The answer to a request, by its path."""

    def send(path, **request):
        shape, function = service.functions[path]
        return msgspec.json.decode(msgspec.json.encode(function(msgspec.convert(request, shape))))

    return send


def ids(facts):
    return [[entity["id"] for entity in fact] for fact in facts]


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


@pytest.mark.parametrize(
    ("question", "linked"),
    [
        ("Who directed Titanic?", [("P57", "directed")]),
        ("Who was the author and director of Titanic?", [("P50", "author"), ("P57", "director")]),
        ("What is the release date of Titanic?", [("P577", "release date")]),
        ("Titanic?", []),
        ("", []),
    ],
)
def test_relation_linking_finds_properties_by_their_names_and_aliases(post, question, linked):
    answer = post("/relation_linking", question=question, parameters={}, top_ranked=True)
    assert [(one["item"]["id"], one["mention"]) for one in answer["linkings"]] == linked
    assert answer["mentions"] == [mention for _, mention in linked]


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


@pytest.mark.parametrize(
    "literal", ["53.3", "+53", "some words", '"quoted"', "", "q42", "Q042", "Q1 ", "42\n", "1997-13-01T00:00:00Z"]
)
def test_literals_are_their_own_labels_and_have_neither_types_nor_facts(post, literal):
    assert post("/item_to_label", item=literal) == literal
    assert post("/item_to_labels", item=literal) == post("/item_to_aliases", item=literal) == [literal]
    assert post("/item_to_description", item=literal) == "None"
    assert post("/item_to_types", item=literal) == post("/neighborhood", item=literal) == []
    assert post("/two_hop_neighborhood", item=literal) == []
    assert post("/item_to_type", item=literal) is None and post("/connect", item1=literal, item2=TITANIC) is None
    assert post("/frequency", item=literal) == [0, 0]
    assert post("/connectivity_check", item1=TITANIC, item2=literal) == 0


def test_quoted_dates_have_the_label_of_the_date(post):
    assert post("/item_to_label", item='"1997-12-19T00:00:00Z"') == "19 December 1997"


def test_types_are_classes_and_occupations_and_the_type_is_the_most_frequent(post):
    director = {"id": "Q2526255", "label": post("/item_to_label", item="Q2526255")}
    human = {"id": HUMAN, "label": "human"}
    assert post("/item_to_types", item="Q900") == [human, director]
    assert post("/item_to_type", item="Q900") == human


def test_properties_have_a_frequency_and_a_neighborhood(post, kb):
    facts = [fact for item in (TITANIC, "Q25188", "Q24871") for fact in ids(kb.neighborhood(item)) if fact[1] == "P57"]
    answer = ids(post("/neighborhood", item="P57"))
    assert all(fact in answer for fact in facts) and all("P57" in fact[1::2] for fact in answer)
    assert ["Q900", "P569", "x", "P57", "Q901"] in answer  # in a qualifier
    assert post("/frequency", item="P57") == [0, len(answer)] and len({tuple(fact) for fact in answer}) == len(answer)
    assert post("/neighborhood", item="P57", p=len(answer) - 1) == []  # pruned: a property is no subject
    assert len(post("/two_hop_neighborhood", item="P57")) > len(answer)
    assert post("/frequency", item="P999999") == [0, 0] and post("/neighborhood", item="P999999") == []


def test_an_item_is_connected_with_itself(post):
    facts = post("/neighborhood", item=CAMERON)
    assert post("/connect", item1=CAMERON, item2=CAMERON) == [[fact] for fact in facts]
    assert post("/connectivity_check", item1=CAMERON, item2=CAMERON) == 1
    assert post("/connectivity_check", item1="Q999999999", item2="Q999999999") == 0
    assert post("/connect", item1="Q999999999", item2="Q999999999") is None


def test_p_keeps_only_the_facts_as_subject_of_what_has_more_than_p_others(post, kb):
    assert post("/frequency", item="Q900") == [3, 5]
    as_subject = ids(kb.first_facts("Q900", 3))
    assert ids(post("/neighborhood", item="Q900", p=4)) == as_subject
    for p in (5, "5", 0, False, None, 1000):
        assert len(post("/neighborhood", item="Q900", p=p)) == 8
    assert ids(post("/two_hop_neighborhood", item="Q900", p=4))[:3] == as_subject


@pytest.mark.parametrize(
    "request_",
    [{"p": 4}, {"p": "4"}, {"p_setting": 4}, {"parameters": {"p": 4}}, {"parameters": {"p_setting": 4}},
     {"parameters": {"p": 4}, "p_setting": 1000}, {"parameters": {"p": 9, "p_setting": 4}}],
    ids=str,
)  # fmt: skip
def test_p_of_a_question_stands_where_it_may(post, request_):
    assert len(post("/search_space", question="The Busy One", k=1, **request_)["search_space"]) == 3
    assert len(post("/search_space", question="The Busy One", parameters={"p": 5, "k": None})["search_space"]) >= 8
