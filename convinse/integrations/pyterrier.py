"""PyTerrier: retrieval and reranking as transformers, data sets of conversations as topics, judgements by answer presence.

Columns beside PyTerrier's own: `history` of a query (earlier turns; optional), `evidence` and `evidence_score` of a result. The
`score` of n results is n for the first down to 1 for the last: scores of evidences may tie, or mix two scales in a cascade.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..records.conversation import Conversation
from ..records.evidence import Entity, Evidence
from ..scoring.convqa import has_answer
from ..support.errors import missing_extra
from .shared import Settings, SharedPipeline, shared_pipeline, to_document, to_evidence

try:
    import pandas as pd
    import pyterrier as pt
except ModuleNotFoundError as error:
    raise missing_extra(f"{error.name} is missing", "pyterrier") from error

_RESULTS = ["qid", "query", "docno", "text", "score", "rank", "evidence", "evidence_score"]


class PyTerrierRetriever(pt.Transformer):
    """Queries -> the pipeline's top evidences, `evs_max_evidences` at most.

    Args:
        config, sources: see `SharedPipeline`, which may be given in place of both.
    """

    def __init__(self, config: SharedPipeline | Settings = "config.yml", sources: str | None = None) -> None:
        self.pipeline = shared_pipeline(config, sources)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return a row for every evidence from `qid`, `query` and optionally `history`."""
        pt.validate.query_frame(inp, extra_columns=["query"])
        earlier = list(inp["history"]) if "history" in inp.columns else None
        return _results(inp, self.pipeline.retrieve(list(inp["query"]), earlier))


class PyTerrierReranker(pt.Transformer):
    """Results with their `text` -> the best `most` in the order of the pipeline's scorer; further columns are lost.

    Args:
        config: see `SharedPipeline`, which may be given in its place.
        most: the most results of a query.
    """

    def __init__(self, config: SharedPipeline | Settings = "config.yml", most: int = 100) -> None:
        self.pipeline, self.most = shared_pipeline(config), most

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the columns of `PyTerrierRetriever` from `qid`, `query`, `docno`, `text` and optionally `evidence`; `docno` is kept."""
        pt.validate.result_frame(inp, extra_columns=["query", "text"])
        queries = inp.drop_duplicates("qid")[["qid", "query"]]
        candidates: dict[str, list[Evidence]] = {qid: [] for qid in queries["qid"]}
        for row in inp.to_dict("records"):
            # `docno` goes through ranking with its evidence; `_results` takes it out
            meta = row["evidence"] if isinstance(row.get("evidence"), dict) else {}
            candidates[row["qid"]].append({**to_evidence(row["text"], meta), "docno": row["docno"]})  # type: ignore[typeddict-unknown-key]
        return _results(queries, self.pipeline.rank(list(queries["query"]), list(candidates.values()), self.most))


def topics(conversations: Iterable[Conversation]) -> pd.DataFrame:
    """Return the turns of conversations as queries, with the turns before as `history`, gold `answers` and the question id."""
    return pd.DataFrame(
        {
            "qid": str(turn.get("question_id", f"{conversation['conv_id']}-{number}")),
            "query": turn.get("question", ""),
            "history": conversation["questions"][:number],
            "answers": turn.get("answers", []),
        }
        for conversation in conversations
        for number, turn in enumerate(conversation["questions"])
    )


def judgements(results: pd.DataFrame, answers: Mapping[str, Sequence[Entity]]) -> pd.DataFrame:
    """Return the qrels of results, perhaps of several systems: 1 if an evidence has a gold answer of its `qid`."""
    labels = [int(has_answer(row.evidence, answers[row.qid])) for row in results.itertuples()]
    return results[["qid", "docno"]].assign(label=labels).groupby(["qid", "docno"], as_index=False).max()


def _results(queries: pd.DataFrame, ranked: Iterable[Sequence[Evidence]]) -> pd.DataFrame:
    rows = []
    for qid, query, evidences in zip(queries["qid"], queries["query"], ranked, strict=True):
        for place, evidence in enumerate(evidences):
            docno = evidence.pop("docno", None)  # type: ignore[typeddict-item]
            rows.append([qid, query, docno or to_document(evidence)[0], evidence["evidence_text"], float(len(evidences) - place),
                         place + pt.model.FIRST_RANK, evidence, evidence["score"]])  # fmt: skip
    return pd.DataFrame(rows, columns=_RESULTS)
