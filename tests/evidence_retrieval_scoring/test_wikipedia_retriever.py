import copy

import pytest

from convinse.config import parse_config
from convinse.errors import IndexFileError
from convinse.evidence_retrieval_scoring.wikipedia_retriever import WikipediaRetriever
from convinse.wikipedia.dump import write_dump


def evidence(text, entities=0, source="text"):
    found = [{"id": f"Q{number}", "label": f"item {number}"} for number in range(1, entities + 1)]
    return {
        "evidence_text": text,
        "source": source,
        "disambiguations": [[e["label"], e["id"]] for e in found],
        "wikidata_entities": found,
    }


PAGE = [evidence("Titanic, A film.", 1), evidence("Titanic, Gross, much", 2, "info")]


@pytest.fixture
def retriever(workdir):
    def make(evidences=PAGE, **config):
        write_dump(workdir / "wikipedia.db", [("Q44578", evidences), ("Q1", [])])
        return WikipediaRetriever(parse_config({"ers_wikipedia_dump": str(workdir / "wikipedia.db"), **config}))

    return make


def found(retriever, item="Q44578"):
    return [one["evidence_text"] for one in retriever.retrieve_wp_evidences(item)]


def test_the_evidences_of_a_page_come_as_they_are(retriever):
    made = retriever()
    assert made.retrieve_wp_evidences("Q44578") == PAGE
    assert made.retrieve_wp_evidences("Q1") == []
    assert made.retrieve_wp_evidences("Q404404") == []


@pytest.mark.parametrize(
    "change",
    [
        lambda e: e.update(score=1),
        lambda e: e["wikidata_entities"].clear(),
        lambda e: e["disambiguations"].append(["x", "Q9"]),
    ],
)
def test_who_changes_what_is_returned_changes_nothing_for_the_next(retriever, change):
    made = retriever()
    change(made.retrieve_wp_evidences("Q44578")[0])
    assert made.retrieve_wp_evidences("Q44578") == PAGE


@pytest.mark.parametrize(
    ("low", "high", "lengths"),
    [(3, 400, [3, 10, 400]), (4, 399, [10]), (10, 10, [10]), (0, 1000, [2, 3, 10, 400, 401])],
)
def test_length_filters_include_their_bounds(retriever, low, high, lengths):
    made = retriever(
        [evidence("x" * size) for size in (2, 3, 10, 400, 401)],
        evr_min_evidence_length=low,
        evr_max_evidence_length=high,
    )
    assert [len(text) for text in found(made)] == lengths


def test_default_lengths(retriever):
    assert [len(text) for text in found(retriever([evidence("x" * size) for size in (2, 3, 400, 401)]))] == [3, 400]


def test_evr_max_entities_counts_items_and_no_dates_or_numbers(retriever):
    literals = [{"id": "1997-12-19T00:00:00Z", "label": "19 December 1997"}, {"id": "194", "label": "194"}]
    dated = evidence("with dates", 2)
    dated["wikidata_entities"] += literals
    evidences = [evidence("one", 1), evidence("two", 2), evidence("three", 3), dated]
    assert found(retriever(evidences, evr_max_entities=2)) == ["one", "two", "with dates"]
    assert found(retriever([evidence("ten", 10), evidence("eleven", 11)])) == ["ten"]


def test_letters_are_at_least_half_of_the_characters(retriever):
    assert found(retriever([evidence("abc123"), evidence("abc1234"), evidence("1 2 3 4"), evidence("été 12")])) == [
        "abc123",
        "été 12",
    ]


def test_filters_change_without_a_new_dump_or_a_stale_cache(retriever, workdir):
    config = {"ers_cache_path": str(workdir / "cache")}
    assert found(retriever([evidence("short"), evidence("rather longer")], **config)) == ["short", "rather longer"]
    assert found(retriever([evidence("short"), evidence("rather longer")], **config, evr_min_evidence_length=6)) == [
        "rather longer"
    ]


def test_a_rebuilt_dump_is_read_anew(retriever, workdir):
    config = {"ers_cache_path": str(workdir / "cache")}
    first = retriever([evidence("before")], **config)
    assert found(first) == ["before"]
    first.store_cache()
    second = retriever([evidence("after")], **config)
    assert found(second) == ["after"]
    assert first.build_id != second.build_id


def test_without_a_dump_there_is_nothing():
    made = WikipediaRetriever(parse_config({"ers_wikipedia_dump": None}))
    assert made.retrieve_wp_evidences("Q44578") == []
    assert made.dump is None


def test_a_missing_dump_is_a_clear_error_on_first_use_only(workdir):
    made = WikipediaRetriever(parse_config({"ers_wikipedia_dump": str(workdir / "nowhere.db")}))
    with pytest.raises(IndexFileError, match="nowhere.db"):
        made.retrieve_wp_evidences("Q44578")


def test_without_cache_no_disk_is_touched(retriever, workdir):
    made = retriever(ers_use_cache=False, ers_cache_path=str(workdir / "cache"))
    before = copy.copy(sorted(workdir.rglob("*")))
    found(made)
    made.store_cache()
    assert sorted(workdir.rglob("*")) == before
