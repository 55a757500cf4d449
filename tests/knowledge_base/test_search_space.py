import pytest

from convinse.config import ClocqParams
from convinse.knowledge_base.search_space import SearchSpace
from convinse.records.facts import fact_text

QUESTION = "Was Kate Winslet in Titanic?"


@pytest.fixture
def space(world_kb):
    def make(p=1000, **params):
        return SearchSpace(world_kb, ClocqParams(**params), p)

    return make


def test_the_facts_are_the_neighbourhoods_of_the_items_each_once(space, world_kb):
    facts, entities = space().search(QUESTION)
    items = [entity["item"]["id"] for entity in entities]
    assert {"Q202765", "Q44578"} <= set(items)
    around = {fact_text(fact) for item in items for fact in world_kb.neighborhood(item)}
    assert sorted(fact_text(fact) for fact, _ in facts) == sorted(around)
    for fact, item in facts:
        assert item in [entity["item"] for entity in entities]
        assert fact in world_kb.neighborhood(item["id"])


def test_an_item_of_two_mentions_counts_once(space):
    entities = space().question_entities("The Beatles || The Fab Four || members")
    assert [entity["item"]["id"] for entity in entities] == ["Q1299"]
    assert entities[0]["question_word"].endswith("Beatles")  # the better match


def test_p_and_p_setting_prune_items_that_many_facts_point_to(space):
    def facts(**params):
        return [fact_text(fact) for fact, _ in space(**params).search("Who directed with James Cameron?")[0]]

    everything, pruned = facts(k=1), facts(k=1, p=1)
    assert any(not text.startswith("James Cameron") for text in everything)
    assert pruned == [text for text in everything if text.startswith("James Cameron")] == facts(k=1, p_setting=1)


def test_bm25_limit_keeps_the_facts_with_the_words_of_the_question(space):
    facts, _ = space(bm25_limit=1, k=1).search("Who is the director of Inception?")
    assert [fact_text(fact) for fact, _ in facts] == ["Inception, director, Christopher Nolan"]
    assert space(bm25_limit=False).search(QUESTION) == space(bm25_limit=0).search(QUESTION)
