import asyncio

import pytest

pytest.importorskip("langchain_core")

from asked import ALL, QUESTIONS, native, texts


def test_a_chain_gives_the_native_ranking(shared):
    from langchain_core.runnables import RunnableLambda

    from convinse.neighbours.langchain import LangChainRetriever

    retriever = LangChainRetriever(shared, k=ALL)
    chain = retriever | RunnableLambda(lambda documents: [document.page_content for document in documents])
    wanted = [texts(turn) for turn in native()]
    assert chain.batch(QUESTIONS) == wanted  # from several threads
    assert asyncio.run(chain.ainvoke(QUESTIONS[0])) == wanted[0]
    first, *_ = LangChainRetriever(shared, k=1, tags=["convinse"]).invoke(QUESTIONS[0])
    evidence = native()[0]["top_evidences"][0]
    assert first.metadata == {key: value for key, value in evidence.items() if key != "evidence_text"}
