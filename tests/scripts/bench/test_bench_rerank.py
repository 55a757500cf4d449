"""The parts of `bench rerank` that decide what is measured and how it is counted."""

import numpy as np
import pytest

from bench.rerank import data, measures


def evidence(text, source="kb", *ids):
    entities = [{"id": one, "label": one} for one in ids]
    return {"evidence_text": text, "source": source, "disambiguations": [], "wikidata_entities": entities}


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
    found = list(data.distinct_questions([{"questions": turns}, {"questions": turns}, {"questions": other}]))
    assert found == [("Ada Where?", ("Q5",), True), ("Ada When?", ("Q5",), False), ("Bo Where?", ("Q5",), True)]


def test_pairs_are_distinct_from_all_sources_and_always_the_same():
    questions = [candidates(number, 10) for number in range(5)]
    pairs = data.draw_pairs(questions + questions, 60)
    assert len(set(pairs)) == 60 and {pair.source for pair in pairs} == {"kb", "text", "table", "info"}
    assert pairs == data.draw_pairs(questions, 60)


def test_pairs_that_the_data_does_not_give_end_the_program():
    question = candidates(0, 10)
    with pytest.raises(SystemExit, match="40 pairs only, not 41"):
        data.draw_pairs([question], 41)
    with pytest.raises(SystemExit, match="no pair from info, table, text"):
        data.draw_pairs([question._replace(page=[])], 10)


def test_lists_are_whole_and_within_the_limit():
    questions = [candidates(number, size) for number, size in enumerate((1, 12, 15, 50))]
    assert sorted(len(texts) for _, texts in data.draw_lists(questions, 40, 110)) == [48, 60]
    assert len(data.draw_lists(questions, 40, 100)) == 1


def test_pools_have_the_size_and_share_no_text():
    questions = [candidates(number, 10) for number in range(6)]
    made = data.pools([*questions, *questions], 70)
    texts = [one["evidence_text"] for pool in made for one in pool.evidences]
    assert [len(pool.evidences) for pool in made] == [70, 70, 70] and len(set(texts)) == 210
    assert made[0].queries == ["question 0", "question 1"]
    assert made[1].queries == ["question 1", "question 2", "question 3"]


def test_widening_adds_no_answer_and_no_text_twice():
    question = data.Candidates("q", ("Q7",), True, [evidence("own", "kb", "Q7")], [evidence("page", "text")])
    others = [evidence("own", "kb"), evidence("right", "kb", "Q7"), *(evidence(f"other {n}") for n in range(9))]
    found = data.widened(question, others, 6, seed=1)
    texts = [one["evidence_text"] for one in found]
    assert found[0]["wikidata_entities"] and len(set(texts)) == len(texts) == 6
    assert all(text.startswith("other") for text in texts[1:])
    assert len(data.widened(question, others, 100, seed=1)) == 10


def test_other_weights_end_the_program(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert data.checked_model(tmp_path, empty) == tmp_path
    with pytest.raises(SystemExit, match=f"sha256 is {empty}, not 53aa51172d"):
        data.checked_model(tmp_path, data.WEIGHTS_SHA256)
    with pytest.raises(SystemExit, match="no such file"):
        data.checked_model(tmp_path / "elsewhere", data.WEIGHTS_SHA256)


def test_missing_packages_are_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(data.PACKAGES, "no_such_package_here", "some-name")
    data.need_packages(["json"])
    with pytest.raises(SystemExit, match="pip install some-name$"):
        data.need_packages(["json", "no_such_package_here"])


def test_rank_correlation():
    assert measures.spearman([1, 2, 3, 4], [10, 20, 30, 99]) == pytest.approx(1)
    assert measures.spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    assert measures.spearman([1, 2, 2, 4], [1, 3, 2, 4]) == pytest.approx(4.5 / np.sqrt(4.5 * 5))  # ties share a rank


def test_overlap_of_the_best():
    assert measures.top_overlap([5, 4, 3, 2, 1], [1, 4, 5, 3, 2], top=2) == 0.5
    assert measures.top_overlap([5, 4], [4, 5], top=20) == 1


def test_answers_kept():
    right, wrong = evidence("a", "kb", "Q7"), evidence("b", "kb", "Q8")
    assert measures.first_hit([wrong, right, right], ["Q7"]) == 2
    assert measures.first_hit([wrong], ["Q7"]) is None
    assert measures.presence([1, 5, 6, None], 5) == 0.5
    assert measures.kept([1, 9, None, 2, 3], [3, 5, 4, None, 6], 5) == pytest.approx(1 / 3)
    assert measures.kept([1], [None], 5) is None


def test_the_order_of_equal_scores_is_that_of_the_texts():
    assert measures.best_first([1.0, 2.0, 1.0 + 1e-9], ["b", "c", "a"]) == [1, 2, 0]


def test_systems_take_turns():
    calls = []
    seconds, results = measures.interleaved({name: lambda name=name: calls.append(name) or name for name in "abc"}, 3)
    assert calls == list("abccbaabc")
    assert [len(times) for times in seconds.values()] == [3, 3, 3] and results == {"a": "a", "b": "b", "c": "c"}


def test_operations_of_a_bert():
    # one layer, one sequence of 2 tokens, hidden 1, intermediate 1: 6 products a token, 2 of 2x2 for the attention
    assert measures.flops([2], 1, 1, 1) == 2 * 2 * 6 + 2 * 2 * 2 * 2
    assert measures.flops([2, 2], 1, 1, 3) == 6 * measures.flops([2], 1, 1, 1)


def test_bounds_say_what_was_missed():
    assert not measures.Bound("speed", 3.0, 3).failed and measures.Bound("speed", 2.9, 3).failed
    assert measures.Bound("seconds", 1.1, 1, at_least=False).failed
    assert not measures.Bound("share", None, 1).failed
    assert str(measures.Bound("speed", 2.9, 3)) == "speed: 2.9, wanted at least 3"
