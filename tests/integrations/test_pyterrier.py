import json
import warnings

import pytest

pytest.importorskip("pyterrier")

with warnings.catch_warnings():  # of the tool's own dependencies
    warnings.simplefilter("ignore")
    import pyterrier as pt

    from convinse.integrations.pyterrier import PyTerrierReranker, PyTerrierRetriever, judgements, topics

from pipeline_results import ALL, QUESTIONS, native, texts

from places import SNAPSHOT

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


def ranking(results, qid):
    return list(results[results.qid == qid].sort_values("rank").text)


def test_a_pipeline_gives_the_native_ranking(shared):
    queries = pt.new.queries(QUESTIONS, qid=["a", "b"])
    retriever = PyTerrierRetriever(shared)
    first, second = retriever(queries), (retriever >> PyTerrierReranker(shared, most=ALL))(queries)
    cut = (retriever >> PyTerrierReranker(shared, most=2))(queries)
    for qid, turn in zip("ab", native(), strict=True):
        assert ranking(first, qid) == ranking(second, qid) == texts(turn)
        assert ranking(cut, qid) == texts(turn)[:2]
    assert list(first.columns) == list(second.columns) and list(first.docno) == list(second.docno)
    assert list(first[first.qid == "a"].evidence_score) == [e["score"] for e in native()[0]["top_evidences"]]
    assert retriever.search(QUESTIONS[0]).text.iloc[0] == texts(native()[0])[0]


def test_texts_of_other_retrievers_are_ranked_and_keep_their_ids(shared):
    rows = [["q", QUESTIONS[0], name, text] for name, text in (("d1", "Of something else."), ("d2", "Titanic is a film directed by James Cameron."))]  # fmt: skip
    results = pt.model.add_ranks(
        pt.new.ranked_documents([[2.0, 1.0]], qid=["q"], docno=[["d1", "d2"]]).drop(columns="rank")
    )
    results["query"], results["text"] = QUESTIONS[0], [row[3] for row in rows]
    assert list(PyTerrierReranker(shared)(results).docno) == ["d2", "d1"]


def test_an_experiment_over_conversations(shared):
    conversations = json.loads((SNAPSHOT / "conversations" / "train.json").read_text())[:2]
    queries = topics(conversations)
    assert len(queries) == sum(len(c["questions"]) for c in conversations) and queries.history.map(len).max() > 1
    retriever = PyTerrierRetriever(shared)
    found = retriever(queries)
    qrels = judgements(found, dict(zip(queries.qid, queries.answers, strict=True)))
    table = pt.Experiment(
        [retriever, retriever % 1], queries, qrels, ["recip_rank", pt.measures.Success @ 5], names=["all", "first"]
    ).set_index("name")
    best = found[found["rank"] < 5].merge(qrels[qrels.label == 1], on=["qid", "docno"])
    reached = best.qid.nunique() / queries.qid.nunique()
    assert table.loc["all", "Success@5"] == pytest.approx(reached) and reached > 0.2
    assert table.loc["all", "recip_rank"] >= table.loc["first", "recip_rank"] > 0
