"""How the stages work: structures of keys of the configuration."""

from __future__ import annotations

from typing import Literal

from .value_types import NotNegative, Positive, Settings, Share, Tokens, Weight


class ClocqParams(Settings, frozen=True):
    """Parameters of CLOCQ's search space retrieval (Christmann et al., WSDM 2022), with its names.

    h_match, h_rel, h_conn, h_coh: weights of the four candidate scores (match with the mention, relevance to the
    question, connectivity in the knowledge base, coherence); k: items per mention, or AUTO; d: depth of the candidate
    lists; p_setting: an item that is object or qualifier of more facts keeps only
    those with it as subject; bm25_limit: facts kept in all, by BM25 (0 or false: all).
    """

    h_match: Weight = 0.4
    h_rel: Weight = 0.2
    h_conn: Weight = 0.3
    h_coh: Weight = 0.1
    d: Positive = 20
    k: Positive | Literal["AUTO"] = "AUTO"
    p_setting: Positive = 1000
    bm25_limit: bool | NotNegative = 0


class QuSr(Settings, frozen=True):
    """How the model of `qu: sr` writes representations; the defaults are those of CONVINSE's configuration.

    num_beams: of beam search (1: none); no_repeat_ngram_size: no
    sequence of this many tokens is written twice (0: allowed); max_input_length: tokens read, beyond which the oldest part
    of the history is cut off; max_output_length: tokens written (CONVINSE names no limit); batch_size: questions
    computed together.
    """

    num_beams: Positive = 20
    no_repeat_ngram_size: NotNegative = 2
    max_input_length: Tokens = 512
    max_output_length: Tokens = 64
    batch_size: Positive = 10


class HaSeq2Seq(Settings, frozen=True):
    """How the model of `ha: seq2seq` reads and writes; all but the beams as CONVINSE has it, whose file names 20.

    evidences: read, the best ones; max_input_length: tokens of the question with an evidence, beyond which the end of the
    evidence is cut off; max_output_length: tokens of an answer; num_beams: answers that are looked for (1: one, greedily).
    """

    evidences: Positive = 100
    max_input_length: Tokens = 250
    max_output_length: Tokens = 10
    num_beams: Positive = 5


class EvsCascade(Settings, frozen=True):
    """How many evidences the cross-encoder of the cascade sees.

    lexical: chosen by BM25; dense: chosen by the bi-encoder; lexical_share: weight of the BM25 score, divided by the best one, in
    the final score (0: the cross-encoder alone).
    """

    lexical: NotNegative = 100
    dense: NotNegative = 100
    lexical_share: Share = 0.0
