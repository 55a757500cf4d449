import pytest

haystack = pytest.importorskip("haystack")

from pipeline_results import ALL, QUESTIONS, native, texts  # noqa: E402

from convinse.integrations.haystack import HaystackRanker, HaystackReader, HaystackRetriever  # noqa: E402


def build(shared):
    """Retriever, ranker and reader, one after the other."""
    pipeline = haystack.Pipeline()
    parts = {"retriever": HaystackRetriever(shared, top_k=ALL), "ranker": HaystackRanker(shared, top_k=ALL), "reader": HaystackReader(shared, top_k=3)}  # fmt: skip
    for name, part in parts.items():
        pipeline.add_component(name, part)
    pipeline.connect("retriever.documents", "ranker.documents")
    pipeline.connect("ranker.documents", "reader.documents")
    return pipeline


def ask(pipeline, question):
    return pipeline.run({name: {"query": question} for name in ("retriever", "ranker", "reader")}, include_outputs_from={"retriever", "ranker"})  # fmt: skip


@pytest.mark.parametrize("stored", [False, True])
def test_a_pipeline_gives_the_native_ranking_and_answers(shared, stored):
    pipeline = build(shared)
    if stored:
        pipeline = haystack.Pipeline.loads(pipeline.dumps(), allowed_modules=["convinse.integrations.haystack"])
    for question, turn in zip(QUESTIONS, native(), strict=True):
        done = ask(pipeline, question)
        for part in ("retriever", "ranker"):
            documents = done[part]["documents"]
            assert [document.content for document in documents] == texts(turn)
            assert [document.score for document in documents] == [e["score"] for e in turn["top_evidences"]]
        answers = done["reader"]["answers"]
        assert [(a.data, a.score, a.meta["id"]) for a in answers] == [
            (r["answer"]["label"], r["score"], r["answer"]["id"]) for r in turn["pred_answers"][:3]
        ]
        assert answers[0].document in done["ranker"]["documents"]


def test_documents_of_other_retrievers_are_ranked_and_keep_their_metadata(shared):
    documents = [haystack.Document(content="Of something else.", meta={"page": 1}),
                 haystack.Document(content="Titanic is a film directed by James Cameron.", meta={"page": 2})]  # fmt: skip
    ranked = HaystackRanker(shared).run(QUESTIONS[0], documents)["documents"]
    assert [(d.meta, d.id) for d in ranked] == [(d.meta, d.id) for d in documents[::-1]]
    assert len(HaystackRanker(shared).run(QUESTIONS[0], documents, top_k=1)["documents"]) == 1
    assert HaystackReader(shared).run(QUESTIONS[0], []) == {"answers": []}
