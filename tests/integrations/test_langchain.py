import asyncio

import pytest

pytest.importorskip("langchain_core")

from pipeline_results import ALL, QUESTIONS, native, texts


def test_a_chain_gives_the_native_ranking(shared):
    from langchain_core.runnables import RunnableLambda

    from convinse.integrations.langchain import LangChainRetriever

    retriever = LangChainRetriever(shared, k=ALL)
    chain = retriever | RunnableLambda(lambda documents: [document.page_content for document in documents])
    expected = [texts(turn) for turn in native()]
    assert chain.batch(QUESTIONS) == expected  # from several threads
    assert asyncio.run(chain.ainvoke(QUESTIONS[0])) == expected[0]
    first, *_ = LangChainRetriever(shared, k=1, tags=["convinse"]).invoke(QUESTIONS[0])
    evidence = native()[0]["top_evidences"][0]
    assert first.metadata == {key: value for key, value in evidence.items() if key != "evidence_text"}


def test_settings_count_at_call_time(shared):
    from langchain_core.runnables import ConfigurableField

    from convinse.integrations.langchain import LangChainRetriever

    def sources(documents):
        return {document.metadata["source"] for document in documents}

    retriever = LangChainRetriever(shared, "kb", k=3)
    question = QUESTIONS[0]
    fields = retriever.configurable_fields(k=ConfigurableField(id="k"), sources=ConfigurableField(id="sources"))
    wider = fields.with_config(configurable={"k": ALL})
    assert sources(wider.invoke(question)) == {"kb"} and len(wider.invoke(question)) > len(fields.invoke(question)) == 3
    assert sources(fields.invoke(question, {"configurable": {"sources": "text"}})) == {"text"}
    assert [len(found) for found in retriever.batch([question] * 2, k=2)] == [2, 2]
    assert len(retriever.bind(k=1).invoke(question)) == len(asyncio.run(retriever.ainvoke(question, k=1))) == 1
    assert len(asyncio.run(wider.abatch([question], k=2))[0]) == 2
    assert sources(retriever.invoke(question, sources=["text"])) == {"text"}
    assert sources(LangChainRetriever(shared, ("text", "info"), k=3).invoke(question)) <= {"text", "info"}
    which = retriever.configurable_alternatives(
        ConfigurableField(id="which"), default_key="kb", text=LangChainRetriever(shared, "text", k=2)
    )
    assert sources(which.invoke(question)) == {"kb"}
    chosen = which.with_config(configurable={"which": "text"})
    assert sources(chosen.invoke(question)) == {"text"} and len(chosen.invoke(question)) == 2
    with pytest.raises(TypeError, match="most"):
        retriever.invoke(question, most=1)
    with pytest.raises(ValueError, match="top_k"):
        LangChainRetriever(shared, "kb", top_k=1)
