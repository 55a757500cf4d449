"""Questions with candidate evidences, pairs and pools: what the benches of scoring measure on."""

import pytest

import evidences
from bench import candidates as data
from convinse.support.errors import DataError, ModelError
from recipes import sources


def evidence(text, source="kb", *ids):
    return evidences.evidence(text, source, *((one, one) for one in ids))


def candidates(number, size, gold=("Q1",)):
    facts = [evidence(f"fact {number} {place}", "kb") for place in range(size)]
    page = [
        evidence(f"{source} {number} {place}", source) for source in ("text", "table", "info") for place in range(size)
    ]
    return data.Candidates(f"question {number}", gold, True, facts, page)


def test_a_question_of_a_seed_counts_once():
    turns = [{"question": text, "answers": [{"id": "Q5"}], "entities": [{"id": "Q1", "label": "Ada"}], "one_hop": hop}
             for text, hop in (("Where?", True), ("When?", False), ("Where?", True))]  # fmt: skip
    other = [{**turns[0], "entities": [{"id": "Q2", "label": "Bo"}]}]
    distinct = list(data.distinct_turns([{"questions": turns}, {"questions": turns}, {"questions": other}]))
    assert [(seed["label"], turn["question"], gold) for seed, turn, gold in distinct] == [
        ("Ada", "Where?", ("Q5",)), ("Ada", "When?", ("Q5",)), ("Bo", "Where?", ("Q5",)),
    ]  # fmt: skip


def test_pairs_are_distinct_from_all_sources_and_always_the_same():
    asked = [candidates(number, 10) for number in range(5)]
    pairs = data.draw_pairs(asked + asked, 60)
    assert len(set(pairs)) == 60 and {source for *_, source in pairs} == {"kb", "text", "table", "info"}
    assert pairs == data.draw_pairs(asked, 60)


def test_pairs_that_the_data_does_not_give_end_the_program():
    question = candidates(0, 10)
    with pytest.raises(DataError, match="40 pairs only, not 41"):
        data.draw_pairs([question], 41)
    with pytest.raises(DataError, match="no pair from info, table, text"):
        data.draw_pairs([question._replace(page=[])], 10)


def test_lists_are_whole_and_within_the_limit():
    asked = [candidates(number, size) for number, size in enumerate((1, 12, 15, 50))]
    assert sorted(len(texts) for _, texts in data.draw_lists(asked, 40, 110)) == [48, 60]
    assert len(data.draw_lists(asked, 40, 100)) == 1


def test_pools_have_the_size_and_share_no_text():
    asked = [candidates(number, 10) for number in range(6)]
    made = data.pools([*asked, *asked], 70)
    texts = [one["evidence_text"] for pool in made for one in pool.evidences]
    assert [len(pool.evidences) for pool in made] == [70, 70, 70] and len(set(texts)) == 210
    assert made[0].queries == ["question 0", "question 1"]
    assert made[1].queries == ["question 1", "question 2", "question 3"]


def test_widening_adds_no_answer_and_no_text_twice():
    question = data.Candidates("q", ("Q7",), True, [evidence("own", "kb", "Q7")], [evidence("page", "text")])
    others = [evidence("own", "kb"), evidence("right", "kb", "Q7"), *(evidence(f"other {n}") for n in range(9))]
    found = data.widened(question, others, 6)
    texts = [one["evidence_text"] for one in found]
    assert found[0]["wikidata_entities"] and len(set(texts)) == len(texts) == 6
    assert all(text.startswith("other") for text in texts[1:])
    assert len(data.widened(question, others, 100)) == 10


def test_other_weights_are_refused(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert sources.checked_model(tmp_path, empty) == tmp_path
    with pytest.raises(ModelError, match=f"sha256 is {empty}, not 53aa51172d"):
        sources.checked_model(tmp_path, sources.BASE_SHA256)
    with pytest.raises(ModelError, match="no such file"):
        sources.checked_model(tmp_path / "elsewhere", sources.BASE_SHA256)


def test_the_first_hit():
    right, wrong = evidence("a", "kb", "Q7"), evidence("b", "kb", "Q8")
    assert data.first_hit([wrong, right, right], ["Q7"]) == 2
    assert data.first_hit([wrong], ["Q7"]) is None
