"""How the embedded model is measured: the dev sets, and the whole bench with a tiny model."""

import json

import numpy as np
import pytest
from model_bench import bench_of

from bench import candidates
from bench.harness import run
from bench.model import __main__ as parts
from bench.model import ranking, reading, sets, speed
from bench.model.heads import Model
from convinse.config import resolve
from convinse.encoder.extractive_reader import AnswerSpan
from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer
from convinse.knowledge_base.index import KnowledgeBase
from convinse.language.language import english
from convinse.records.facts import fact_evidence
from convinse.support.errors import DataError
from recipes.embedded import examples
from tiny_models import copy_of, damage, joint, tiny
from written import write_lines


def silent(_):
    pass


# -- dev sets ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def example():
    def make(query, text, answer=None, others=(), key="key", group=""):
        candidate = examples.Candidate
        start = text.index(answer) if answer else 0
        spans = ((start, start + len(answer)),) if answer else ()
        relevant = candidate(text, True, spans, readable=answer is not None)
        return examples.Example(query, (relevant, *map(candidate, others)), "test", key, group)

    return make


def test_only_examples_of_the_dev_part_are_measured(example):
    made = [example("q", f"text {number}", key=str(number)) for number in range(200)]
    found = list(examples.of_part(iter(made), "dev"))
    assert 5 < len(found) < 50 and {one.part for one in found} == {"dev"}


def test_a_sample_depends_on_the_seed_and_keeps_the_order():
    items = list(range(100))
    found = sets.sample(items, 10, 1)
    assert found == sets.sample(items, 10, 1) == tuple(sorted(found)) != sets.sample(items, 10, 2)
    assert sets.sample(items[:3], 10, 1) == (0, 1, 2)


def test_a_question_asked_again_on_a_text_has_all_answers(example):
    examples = [
        example("Who?", "Ann and Bob won.", "Ann"),
        example("Who?", "Ann and Bob won.", "Bob"),
        example("Who?", "Nobody marked it."),
        example("Who?", "Cid won.", "Cid"),
    ]
    found = sets.questions(examples)
    assert [(one.text, one.answers) for one in found] == [("Ann and Bob won.", ("Ann", "Bob")), ("Cid won.", ("Cid",))]


def test_single_sentences_are_the_texts_that_are_keys(example):
    examples = [
        example("q", "Ann won.", "Ann", key="Ann won."),
        example("p", "It rained. Ann won.", "Ann", key="Ann won."),
    ]
    assert [one.query for one in sets.single_sentences(examples)] == ["q"]


def test_distractors_hold_no_answer():
    passages = [f"Passage {number} on the weather." for number in range(6)] + ["ANN, again.", "Ann won."]
    questions = [sets.Question(f"q{number}", "Ann won.", ("ann",)) for number in range(20)]
    found = sets.with_distractors(questions, passages, 1)
    assert all(len(set(one.distractors)) == 3 for one in found)
    assert {text for one in found for text in one.distractors} == set(passages[:6])
    assert found == sets.with_distractors(questions, passages, 1)


def test_all_questions_share_a_pool_that_is_filled_up(example):
    examples = [example("q", "a"), example("r", "b"), example("q", "c")]
    found = sets.against_one_pool(examples, ["b", *"defghij"], 6, 10, 1)
    assert [one.query for one in found] == ["q", "r"]
    pool = list(found[0].texts)
    assert pool[:3] == ["a", "b", "c"] and len(set(pool)) == 6 and set(pool[3:]) < set("defghij")
    assert [{pool[place] for place in one.right} for one in found] == [{"a", "c"}, {"b"}]
    assert len(sets.against_one_pool(examples, (), 0, 1, 1)) == 1


def test_candidates_of_an_example(example):
    found = sets.own_candidates([example("q", "right", others=("x", "y"))], 5, 1)
    assert [(one.query, one.texts, one.right) for one in found] == [("q", ["right", "x", "y"], {0})]


def test_a_table_question_is_asked_against_all_rows(example, tmp_path):
    table = {"context": "c1", "title": "Prizes", "header": ["Year", "Winner"]}
    table["rows"] = [[str(2000 + number), f"Winner {number}"] for number in range(9)]
    write_lines(tmp_path / "wikitablequestions" / "tables.jsonl.gz", {**table, "context": "c0"}, table)
    rows, ranked = (
        [row.text for row in shown]
        for shown in sets.TableTexts.of(sets.Rows("ranked"), "Prizes", table["header"], table["rows"])
    )
    found = sets.whole_tables(tmp_path, [example("Who won in 2004?", rows[4], "Winner 4", rows[:2], "k", "tables:c1")])
    assert len(set(rows)) == len(set(ranked)) == 9
    for one in found:
        assert sorted(one.texts) == sorted(rows) and sorted(one.read("ranked")) == sorted(ranked)
        assert [(one.texts[place], one.read("ranked")[place]) for place in one.right] == [(rows[4], ranked[4])]
        assert one.read("plain") == one.texts == sets.Asked("", one.texts, frozenset()).read("ranked")
    with pytest.raises(DataError, match="tables:c9"):
        sets.whole_tables(tmp_path, [example("Who?", rows[4], group="tables:c9")])


# -- reading -----------------------------------------------------------------------------------------------------------


def span(text, context, score, probability):
    return AnswerSpan(text, context, 0, len(text), score, probability, 0.1)


def test_the_best_span_by_score_or_by_relevance_and_probability():
    spans = [span("a", 0, 9.0, 0.2), span("b", 1, 5.0, 0.9), span("c", 2, 7.0, 0.8)]
    best = reading.best_answer
    assert best(spans, range(3), None) == "a"
    assert best(spans, range(3), np.array([0.5, 0.4, 0.4])) == "b"
    assert best(spans, [1, 2], None) == "c"
    assert best(spans, [], None) == "" == best([], range(3), None)


def test_each_layout_reads_its_texts():
    # texts 0 | 1, 2 distractors | 3, 4 sentences of the text | 5 sentence of the others
    spans = [span(str(context), context, float(context), 0.5) for context in range(6)]
    relevance = np.array([0.9, 0.1, 0.2, 0.8, 0.3, 0.4])
    found = reading.Reading([""] * 6, (0, 1, 3, 5, 6), spans, relevance)
    answers = {layout: found.answer(*layout) for layout in reading.LAYOUTS}
    alone, among, whole, by_sentence = "the paragraph", "among distractors", "whole", "by sentence"
    score, product = "span score", "relevance x span probability"
    assert answers == {
        (alone, whole, score): "0",
        (alone, by_sentence, score): "4",
        (alone, by_sentence, product): "3",
        (among, whole, score): "2",
        (among, whole, product): "0",
        (among, by_sentence, score): "5",
        (among, by_sentence, product): "3",
    }


def reading_questions():
    texts = [
        "peter jackson directed the hobbit. the film won one award.",
        "james cameron directed titanic in england.",
        "the author was born in south africa. a novel is a book.",
    ]
    answers = ("peter jackson", "titanic", "south africa")
    others = [texts[1:], texts[::2], texts[:2]]
    return tuple(
        sets.Question(f"who directed film {number}", text, (answer,), tuple(distractors))
        for number, (text, answer, distractors) in enumerate(zip(texts, answers, others, strict=True))
    )


def test_readings_of_a_model_are_those_of_its_classes():
    questions = reading_questions()
    done = []
    apart = Model(joint(), "cpu", "fp32", one_pass=False)
    together = Model(joint(), "cpu", "fp32")
    found = reading.readings(together, questions, done.append)
    assert sum(done) == 3 and found[0].bounds == (0, 1, 3, 5, 8)
    assert found[0].contexts[3:5] == ["peter jackson directed the hobbit.", "the film won one award."]
    for question, one, other in zip(questions, found, reading.readings(apart, questions, silent), strict=True):
        assert [spans.text for spans in one.spans] == [spans.text for spans in other.spans]
        np.testing.assert_allclose(one.relevance, other.relevance, atol=1e-5)
        best = apart.reader.read(question.query, [question.text], 1)[0].text
        assert one.answer(*parts.SENTENCE_LAYOUT) == best
    assert reading.readings(apart, questions, silent, by_sentence=False)[0].bounds == (0, 1, 3, 3, 3)


def test_the_best_span_of_the_text_itself_is_compared_with_the_answers():
    questions = [sets.Question("q", "the Reds won", ("Reds", "the club")), sets.Question("q", "nobody won", ())]
    # the second text is another one's: its better span does not count
    made = [
        reading.Reading([], (0, 1, 2, 2, 2), [span("won", 0, 1.0, 0.2), span("the reds", 0, 2.0, 0.7)], np.ones(2)),
        reading.Reading([], (0, 1, 2, 2, 2), [span("nobody", 0, 3.0, 0.4), span("Ann", 1, 9.0, 0.9)], np.ones(2)),
    ]
    found = reading.certainties(questions, made)
    assert found == [(0.7, True), (0.4, False)]
    figures = reading.calibration(found[:1], found[1:])
    assert figures["calibration error"] == pytest.approx((0.3 + 0.4) / 2)
    assert (figures["answerable only"], figures["probability, no answer"]) == pytest.approx((0.3, 0.4))
    assert (figures["probability, right"], figures["probability, wrong"]) == pytest.approx((0.7, 0.0))


# -- ranking -----------------------------------------------------------------------------------------------------------


def test_two_orders_are_fused_by_reciprocal_ranks():
    # a: 1st and 3rd, b: 2nd and 1st, c: 3rd and 2nd
    assert ranking.fused([0, 1, 2], [1, 2, 0], ["a", "b", "c"]) == [1, 0, 2]


def test_only_the_first_places_are_reordered():
    assert ranking.reordered([3, 1, 0, 2], np.array([0.1, 0.9]), list("abcd")) == [1, 3, 0, 2]


def ranking_questions():
    pool = [f"{who} {what} the {thing}" for who in ("james", "peter") for what in ("directed", "wrote")
            for thing in ("film", "novel", "song", "city")]  # fmt: skip
    return [sets.Asked(f"who {text[6:]}", pool, frozenset({place})) for place, text in enumerate(pool)]


def test_systems_rank_as_their_classes_score():
    asked = ranking_questions()
    model = Model(joint(), "cpu", "fp32")
    base = Model(joint(seed=3), "cpu", "fp32").bi_encoder
    done = []
    ranks, weights = ranking.rank_sets(model, base, asked, done.append, top=None)
    assert list(ranks) == list(ranking.SYSTEMS) and sum(done) == 16
    for number, one in enumerate(asked):
        (right,) = one.right
        odds = model.reranker.predict([(one.query, text) for text in one.texts], logits=True)
        assert ranks["cross-encoder"][number] == 1 + np.sum(odds > odds[right] + 1e-6)
        for system, encoder in (("base bi-encoder", base), ("the model's bi-encoder", model.bi_encoder)):
            cosines = encoder.embed(one.texts) @ encoder.embed([one.query])[0]
            assert ranks[system][number] == 1 + np.sum(cosines > cosines[right] + 1e-6)
    assert ranks["BM25"][0] <= 2  # two texts have all words but one, which no text tells apart
    assert set(weights) <= set(ranking.WEIGHTS)


def test_the_cross_encoder_moves_only_the_best_of_the_fusion():
    asked = ranking_questions()
    model = Model(joint(), "cpu", "fp32")
    ranks, weights = ranking.rank_sets(model, None, asked, silent, top=3)
    assert "base bi-encoder" not in ranks
    for before, after in zip(ranks["BM25 and bi-encoder fused"], ranks["cross-encoder"], strict=True):
        assert before == after if before > 3 else after <= 3


# -- evidence ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def questions():
    """Questions for the subject of a fact of the embedded knowledge base, with its facts; the knowledge base."""
    kb = KnowledgeBase(resolve("snapshot:kb"))
    made = []
    try:
        with_facts = [item for item in (f"Q{number}" for number in range(2000)) if len(kb.neighborhood(item, 30)) > 5]
        for item in with_facts[:4]:
            told = (fact_evidence(fact, fact[0]) for fact in kb.neighborhood(item, 30))
            facts = list({one["evidence_text"]: one for one in told}.values())
            gold = facts[0]["wikidata_entities"][-1]["id"]
            query = f"{kb.label(item)} {facts[0]['evidence_text'].split(', ')[1]}"
            made.append(candidates.Candidates(query, (gold,), True, facts, []))
        assert len(made) == 4
        yield made, kb
    finally:
        kb.close()


def test_wide_candidates_hold_no_further_answer(questions):
    made, kb = questions
    for one in made:
        found = ranking.wide_facts(one, kb.two_hop_neighborhood)
        texts = [evidence["evidence_text"] for evidence in found]
        own = len(one.facts)
        assert texts[:own] == [evidence["evidence_text"] for evidence in one.facts]
        assert own < len(set(texts)) == len(texts) <= 520
        assert not any(candidates.is_right(evidence, one.gold) for evidence in found[own:])
        scores = english().bm25.scores(one.query, texts[own:])
        assert scores[0] == max(scores)


def pools_of(questions):
    made, _ = questions
    wide = [[{**one.facts[0], "evidence_text": f"fact {number} {place}"} for place in range(210)]
            for number, one in enumerate(made)]  # fmt: skip
    evidences = {"as retrieved": [one.facts for one in made], "widened": wide}
    return ranking.Pools(tuple(made), evidences, BM25Scorer())


def test_evidence_is_ranked_by_all_systems(questions):
    pools = pools_of(questions)
    model = Model(joint(), "cpu", "fp32")
    done = []
    found = ranking.evidence_ranks(model, model.bi_encoder, pools, "as retrieved", done.append)
    assert sum(done) == 4 and all(len(ranks) == 4 and None not in ranks for ranks in found.values())
    assert found["base bi-encoder"] == found["the model's bi-encoder"]
    for number, one in enumerate(pools.questions):
        ranked = model.reranker.rank(one.query, one.facts)
        first = next(rank for rank, evidence in enumerate(ranked, 1) if candidates.is_right(evidence, one.gold))
        assert found["cross-encoder"][number] == first == found["cascade"][number]  # which reads all of so few
        ranked = BM25Scorer().rank(one.query, one.facts, 99)
        first = next(rank for rank, evidence in enumerate(ranked, 1) if candidates.is_right(evidence, one.gold))
        assert found["BM25"][number] == first


# -- speed and agreement -----------------------------------------------------------------------------------------------


def test_no_text_is_in_two_turns():
    asked = [sets.Asked(f"q{number}", [f"t{place}" for place in range(number, number + 10)], frozenset())
             for number in range(0, 40, 2)]  # fmt: skip
    turns = speed.turns_of(asked, 6, 5)
    texts = [text for turn in turns for text in turn.texts]
    assert [len(turn.texts) for turn in turns] == [6] * 5 and len(set(texts)) == 30


def test_the_first_turn_is_not_counted():
    now = [0.0]

    def system(seconds):
        return lambda turn: now.__setitem__(0, now[0] + seconds * turn)

    times = speed.medians({"a": system(1), "b": system(2)}, [1, 2, 3], lambda: now[0])
    assert times == {"a": {"turns": 2, "ms": 2500}, "b": {"turns": 2, "ms": 5000}}


def test_one_pass_answers_as_two():
    models = [Model(joint(), "cpu", "fp32", one_pass) for one_pass in (False, True, False)]
    systems = speed.one_pass_systems(*models)
    turn = speed.Turn("who directed the film", [f"peter directed film {number}" for number in range(20)])
    texts = [evidence["evidence_text"] for evidence in systems["ranking alone"](turn)]
    ranked, spans = systems["ranking and reading, one pass"](turn)
    assert [evidence["evidence_text"] for evidence in ranked] == texts
    assert [one.text for one in spans] == [one.text for one in systems["ranking, then reading"](turn)[1]]
    assert len(models[1].pool.spans) == 20 and models[2].pool.spans is None


def test_agreement_counts_answers_and_best_texts():
    questions = reading_questions()
    asked = ranking_questions()[:5]
    both = [Model(joint(), "cpu", "fp32"), Model(joint(seed=3), "cpu", "fp32")]
    first, other = (speed.answers_of(model, questions[:2], questions, asked, silent) for model in both)
    assert [len(own) for own in first] == [5, 5]
    assert first[0] != other[0]
    best = both[0].reranker.predict([(asked[0].query, text) for text in asked[0].texts]).argmax()
    assert first[1][0] == asked[0].texts[best]


def test_scores_that_are_no_numbers_are_found(tmp_path):
    def spoil(tensors):
        tensors["relevance.bias"].fill_(float("nan"))

    broken = damage(copy_of(joint(), tmp_path / "broken"), spoil)
    assert speed.always_numbers(Model(joint(), "cpu", "fp32"), "who directed it")
    assert not speed.always_numbers(Model(broken, "cpu", "fp32"), "who directed it")


# -- the whole bench ---------------------------------------------------------------------------------------------------


def small_sets():
    questions = reading_questions()
    ranked = {name: tuple(ranking_questions()[:6]) for name in ("squad_sentences", "selqa", "boolq", "tables")}
    return sets.DevSets(questions, {"qed": questions[:2], "fairytaleqa": questions[1:]}, ranked)


def small_articles():
    questions = reading_questions()
    nothing = tuple(sets.replace(question, answers=()) for question in questions)
    return {"hops": questions, sets.NEW_WIKIPEDIA: questions[:2], sets.UNANSWERABLE: nothing}


def test_all_parts_print_their_tables_and_return_their_figures(questions, workdir, capsys):
    bench = bench_of(joint(), workdir, against=joint(seed=3))
    given = {
        "sets": small_sets(),
        "articles": small_articles(),
        "pools": pools_of(questions),
        "base": bench.state.model.bi_encoder,
    }
    bench.state.__dict__.update(given)
    figures = {
        part: parts.PARTS[part](bench) for part in ("speed", "reading", "articles", "ranking", "evidence", "agreement")
    }
    assert json.loads(json.dumps(figures))
    assert set(figures["speed"]["200 evidences, int8"]) == {
        "ranking alone", "ranking and reading, one pass", "ranking, then reading",
    }  # fmt: skip
    assert set(figures["speed"]["20 evidences, ranking alone"]) == {"int8", "fp32"}
    assert list(figures["reading"]) == ["qamr", "qed", "fairytaleqa", "both"]
    assert figures["reading"]["both"]["questions"] == 4 and len(figures["reading"]["both"]) == 9
    assert figures["ranking"]["tables"]["scored"] is None and figures["ranking"]["selqa"]["scored"] == 20
    assert set(figures["evidence"]["widened"]["cascade"]) == {"e=5", "e=20", "e=100"}
    agreement = figures["agreement"]["int8, cpu"]
    assert agreement["always numbers"] and 0 <= agreement["answers"] <= 1
    bounds = {bound.what: bound for bound in bench.bounds}
    sentences = figures["ranking"]["squad_sentences"]
    base = bounds["ranking, squad_sentences: MRR of the bi-encoder (all-MiniLM-L6-v2's)"]
    assert base.bound == sentences["base bi-encoder"]["mrr"] == base.value and not base.failed
    cross = bounds["ranking, squad_sentences: MRR, cross-encoder"]
    assert cross.bound == pytest.approx(sentences["against"]["cross-encoder"]["mrr"] + 0.02)
    assert cross.value == sentences["cross-encoder"]["mrr"] != sentences["against"]["cross-encoder"]["mrr"]
    assert figures["articles"]["hops"]["measured"] != figures["articles"]["hops"]["against"]
    assert set(figures["articles"]["calibration"]) == {"measured", "against"}
    assert bounds["reading, qamr: F1"].failed  # nothing was trained
    output = capsys.readouterr().out
    for title in ("reading, in %", "ranking", "one-hop questions", "the same as fp32"):
        assert title in output


def test_a_missing_model_ends_the_program(tmp_path):
    with pytest.raises(SystemExit, match="bench model: .*no such model; name one such as"):
        run(parts.SPEC, ["--model", str(tmp_path / "none")])


def test_another_kind_of_model_is_refused():
    model = Model(tiny(), "cpu", "fp32")
    assert len(model.reranker.predict([("a", "b")])) == 1
    with pytest.raises(Exception, match="is no question-answering checkpoint"):
        model.reader  # noqa: B018 - loads it
