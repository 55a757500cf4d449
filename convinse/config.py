"""Configuration: YAML into one frozen, checked object. The defaults stand here and nowhere else."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from .records.evidence import parse_sources
from .support.errors import CacheError, ConfigError, UnknownKeyError, nearest, one_line
from .support.limits import LARGEST_CONFIG, MOST_SETTINGS
from .support.shared_store import check_address, is_shared

S = TypeVar("S", bound=msgspec.Struct)
SNAPSHOT = "snapshot:"  # a path that starts so lies in the package
STORE = "store:"  # what starts so has the id of data in `data_store`

Positive = Annotated[int, msgspec.Meta(ge=1)]
NotNegative = Annotated[int, msgspec.Meta(ge=0)]
Weight = Annotated[float, msgspec.Meta(ge=0)]
Rate = Annotated[float, msgspec.Meta(gt=0)]
Seconds = Annotated[float, msgspec.Meta(gt=0, extra={"unit": "seconds"})]
Minutes = Annotated[float, msgspec.Meta(gt=0, extra={"unit": "minutes"})]
Days = Annotated[float, msgspec.Meta(ge=0, extra={"unit": "days"})]
Characters = Annotated[int, msgspec.Meta(ge=0, extra={"unit": "characters"})]
MostCharacters = Annotated[int, msgspec.Meta(ge=1, extra={"unit": "characters"})]
Tokens = Annotated[int, msgspec.Meta(ge=1, extra={"unit": "tokens"})]
Shared = Annotated[int, msgspec.Meta(ge=0, extra={"unit": "tokens"})]
Window = Annotated[int, msgspec.Meta(ge=64, extra={"unit": "tokens"})]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Address = Annotated[str, msgspec.Meta(pattern=r"^https?://[^\s/]+", extra={"form": "an address, http or https"})]
BaseUrl = Annotated[  # no name, no password in it
    str, msgspec.Meta(pattern=r"^https?://[^\s/@?#]+(/[^\s?#]*)?$", extra={"form": "an address, http or https"})
]
Device = Annotated[
    str,
    msgspec.Meta(pattern=r"^(auto|cpu|cuda(:\d+)?)$", extra={"form": "`auto`, `cpu`, `cuda`, or `cuda:1` and so on"}),
]
RankingLoss = Literal["listwise", "pairwise"]
Precision = Literal["auto", "fp32", "fp16", "bf16", "int8"]
Backend = Literal["auto", "onnx", "torch"]
_CACHE = "cache/"
_ID = re.compile(r"[0-9a-f]{8,64}")  # of data in a store
_LONGEST_NAME = 200  # bytes of a folder's name; the file system takes 255, and temporary names beside it are longer
_ALIASES = {"evs_precision": "precision", "evs_token_budget": "token_budget"}


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings that are read as attributes, or by key as in a mapping."""

    def __getitem__(self, key: str) -> Any:
        values = self._by_key()
        if key not in values:
            raise UnknownKeyError(f"{type(self).__name__}: unknown key '{key}'; {nearest(str(key), list(values))}")
        return values[key]

    def __contains__(self, key: object) -> bool:
        return key in self._by_key()

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default where there is no such key."""
        return self._by_key().get(key, default)

    def _by_key(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in self.__struct_fields__}


class ClocqParams(Settings, frozen=True):
    """Parameters of CLOCQ's search space retrieval (Christmann et al., WSDM 2022), with its names.

    h_match, h_rel, h_conn, h_coh: weights of the four candidate scores (match with the mention, relevance to the
    question, connectivity in the knowledge base, coherence); k: items per mention, or AUTO; d: depth of the candidate
    lists; p_setting: an item with more facts besides those as subject keeps only the latter; bm25_limit: facts kept in all, by BM25 (0: all).
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

    num_beams: of beam search (1: none); early_stopping: end when so many are complete; no_repeat_ngram_size: so many
    tokens in a row are not written twice (0: they may be); max_input_length: tokens read, beyond which the oldest part
    of the history is cut off; max_output_length: tokens written (CONVINSE names no limit); batch_size: questions
    computed together.
    """

    num_beams: Positive = 20
    early_stopping: bool = True
    no_repeat_ngram_size: NotNegative = 2
    max_input_length: Tokens = 512
    max_output_length: Tokens = 64
    batch_size: Positive = 10


class QuHistory(Settings, frozen=True):
    """How `qu: history` decides what of the history a question is about.

    encoder: the model whose embeddings tell how alike questions and names of properties are; most: things of the
    history that a question may be about.
    """

    encoder: str = SNAPSHOT + "model"
    most: Positive = 3


class HaSeq2Seq(Settings, frozen=True):
    """How the model of `ha: seq2seq` reads and writes; all but the beams as CONVINSE has it, whose file names 20.

    evidences: read, the best ones; max_input_length: tokens of the question with an evidence, beyond which the end of the
    evidence is cut off; max_output_length: tokens of an answer; num_beams: answers that are looked for (1: one, greedily).
    """

    evidences: Positive = 100
    max_input_length: Tokens = 250
    max_output_length: Tokens = 10
    num_beams: Positive = 5


class FitSettings(Settings, frozen=True, kw_only=True):
    """How a model is fitted: what all trainings share.

    epochs: passes over the steps; minutes: of training steps, validation not counted, after which the epoch is cut short
    and is the last; patience: epochs without a better validation after which training stops (the best one is kept);
    learning_rate: the highest; warmup: share of all steps over which it rises to that, before it falls to 0;
    weight_decay: of all weights but biases and norms.
    """

    epochs: Positive = 3
    minutes: Minutes | None = None
    patience: Positive = 2
    learning_rate: Rate = 3e-5
    warmup: Share = 0.1
    weight_decay: Weight = 0.01


class StageTraining(FitSettings, frozen=True, kw_only=True):
    """How `train` trains the model of a stage.

    base: the checkpoint to start from (default: the stage's configured model); output: the model folder to write
    (default: `{output_path}/{name}/`, then `qu_model`, `evs_model` or `ha_model`).
    """

    base: str | None = None
    output: str | None = None


class QuTraining(StageTraining, frozen=True, kw_only=True):
    """How `train qu` trains the model of `qu: sr`, or that of `qu: history`, on the files that `annotate` writes.

    That of `history` needs `output` and `annotated` only: a regression over few features has nothing else to set.

    annotated: the folder of annotated_train.json and annotated_dev.json (default: `{output_path}/{name}`, where
    `annotate` puts them); batch_size: questions of one step.
    """

    annotated: str | None = None
    epochs: Positive = 5
    batch_size: Positive = 10
    learning_rate: Rate = 5e-5


class EvsCascade(Settings, frozen=True):
    """How many evidences the cross-encoder of the cascade sees.

    lexical: chosen by BM25; dense: chosen by the bi-encoder; lexical_share: weight of the BM25 score (as a share of the best one's) in the scores beside the cross-encoder's.
    """

    lexical: NotNegative = 100
    dense: NotNegative = 100
    lexical_share: Share = 0.0


class EvsTraining(StageTraining, frozen=True, kw_only=True):
    """How `train ers` trains the cross-encoder.

    loss: `listwise` (one positive against its negatives) or `pairwise`; negatives: for each positive; positives: of a
    turn in one epoch; batch_turns: groups (one positive, its negatives) of one step.
    """

    loss: RankingLoss = "listwise"
    epochs: Positive = 5
    batch_turns: Positive = 4
    positives: Positive = 4
    negatives: Positive = 11
    learning_rate: Rate = 5e-5


class HaTraining(StageTraining, frozen=True, kw_only=True):
    """How `train ha` trains the extractive reader, or the ranking of its answers, or the model of `ha: seq2seq`.

    That of `seq2seq` takes what all trainings take, and `batch_size`: turns of one step.

    trains (0.2): `reader`, or `ranking` (takes minutes, needs `output` only);
    batch_size: evidences of one step; positives, negatives: evidences with and without an answer of a turn in one epoch;
    negative_windows: share of the windows without the answer, of evidences that hold it further on, that are learned from.
    """

    trains: Literal["reader", "ranking"] = "reader"
    batch_size: Positive = 16
    positives: Positive = 4
    negatives: NotNegative = 4
    negative_windows: Share = 0.1


class ReaderTraining(FitSettings, frozen=True, kw_only=True):
    """A file of `train reader`: how to train a reader on MRQA files (NAME.jsonl or NAME.jsonl.gz).

    base: the checkpoint to start from; output: the model folder to write; train_folder, dev_folders: where the files
    are; train_sets: names of the files to train on (null: all of the folder); examples: questions drawn from each
    (null: all); dev_questions: questions drawn from each dev set to choose the epoch by (null: all; the final figures
    are always of all); validations: of an epoch, each of which keeps the best weights and what a stopped run goes on
    from, and of which `patience` counts; batch_size: questions of one step; token_budget: most tokens computed at a time
    (null: the device's default); max_length, stride: of a window, and shared by two of them; negative_windows: share of the windows
    without an answer, of contexts that have one further on, that are learned from; device: what computes; seed: of drawing and order.
    """

    base: str
    output: str
    train_folder: str
    dev_folders: list[str]
    train_sets: list[str] | None = None
    examples: Positive | None = 75_000
    dev_questions: Positive | None = None
    epochs: Positive = 2
    validations: Positive = 1
    batch_size: Positive = 32
    token_budget: Tokens | None = None
    max_length: Window = 512
    stride: Shared = 128
    negative_windows: Share = 0.1
    device: Device = "auto"
    seed: NotNegative = 42


class RetrieverTraining(FitSettings, frozen=True, kw_only=True):
    """The options of `train retriever`: how to train a cross-encoder or a bi-encoder on judged passages.

    base: the checkpoint to start from; output: the model folder to write; bi_encoder: train a bi-encoder; candidates: best
    passages by BM25 of a question, from which negatives come and which validation ranks; held_out: share of the questions
    that validate; loss: of a cross-encoder; batch_questions: groups (a relevant passage and its negatives) of a step;
    positives: groups of a question in an epoch at most; negatives: of a group at most; max_length: most tokens of a
    question with a passage (cross-encoder), or of either; device: what computes; seed: of drawing and order.
    """

    base: str
    output: str
    bi_encoder: bool = False
    candidates: Positive = 100
    held_out: Share = 0.1
    loss: RankingLoss = "listwise"
    batch_questions: Positive = 8
    positives: Positive = 2
    negatives: Positive = 7
    max_length: Tokens = 256
    device: Device = "auto"
    seed: int = 42


class SweepSettings(Settings, frozen=True, kw_only=True):
    """The file of a sweep: which settings are tried, and on what.

    name: of the folder below `output_path`; grid: key of the configuration, or `key.inner`, -> its values, every combination of
    which is tried; config: what all share; sources: a combination; part: the conversations, none that results are reported
    on; limit: only the first so many; pred_answers: earlier turns count with their predicted answers.
    """

    name: str
    grid: dict[str, Annotated[list[Any], msgspec.Meta(min_length=1)]]
    config: str = "config.yml"
    sources: str = "kb_text_table_info"
    part: Literal["train", "dev", "natural-dev"] = "dev"
    limit: Positive | None = None
    pred_answers: bool = False


class Prices(Settings, frozen=True):
    """What a million tokens cost, in whatever money.

    input: those of prompts; output: those that are written.
    """

    input: Weight = 0.0
    output: Weight = 0.0


class ServerSettings(Settings, frozen=True, kw_only=True):
    """A server of models that speaks OpenAI's interface.

    base_url: of its interface, such as http://localhost:8000/v1; model: as the server calls it; api_key_env: the
    environment variable that holds the key (null: the server wants none); timeout: for an answer in all, its
    attempts and pauses included; parallel: requests under way at once.
    """

    base_url: BaseUrl | None = None
    model: str | None = None
    api_key_env: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    timeout: Seconds = 120.0
    parallel: Annotated[int, msgspec.Meta(ge=1, le=256)] = 8


class LanguageModelSettings(ServerSettings, frozen=True, kw_only=True):
    """A language model behind a server, and how it is asked.

    temperature: 0 is the likeliest text (null: what the server does); max_tokens: written at most (null: not said);
    max_prompt_tokens: of a prompt at most, as they are estimated; json_schema: ask the server to keep the format (where it
    refuses, the text is read strictly); extra: more fields of each request; prices: for the money in `metrics.json`.
    """

    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] | None = 0.0
    max_tokens: Tokens | None = 512
    max_prompt_tokens: Annotated[int, msgspec.Meta(ge=256, extra={"unit": "tokens"})] = 4000
    json_schema: bool = True
    extra: dict[str, Any] = {}
    prices: Prices | None = None


class QuLlm(LanguageModelSettings, frozen=True, kw_only=True):
    """The language model of `qu: llm`; see `LanguageModelSettings`."""


class HaLlm(LanguageModelSettings, frozen=True, kw_only=True):
    """The language model of `ha: llm`; see `LanguageModelSettings`.

    evidences: that it is shown at most; order: the best one first or last; unsupported: an answer that stands in no evidence
    that it cites is dropped, or kept and marked; samples: answers asked for, whose agreement counts (more than one needs a
    temperature); calibration: a file of `train ha` that makes probabilities of how sure the model is.
    """

    evidences: Positive = 30
    order: Literal["best_first", "best_last"] = "best_first"
    unsupported: Literal["drop", "keep"] = "drop"
    samples: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    calibration: str | None = None


class EvsServer(ServerSettings, frozen=True, kw_only=True):
    """A server that scores evidences in the place of `evs_model`.

    kind: `rerank` (`/rerank` of vLLM, Infinity, Jina, Cohere, TEI, llama.cpp), or `embeddings` (`/embeddings`: the cosine);
    batch: texts of a request (TEI takes 32 by default); query_prefix, text_prefix: what the model wants before them.
    """

    kind: Literal["rerank", "embeddings"] = "rerank"
    batch: Positive = 32
    query_prefix: str = ""
    text_prefix: str = ""


class Config(Settings, frozen=True, kw_only=True):
    """All settings of a run. docs/configuration.md has them in groups; what follows a key here is what it says there.

    By key (`config["seed"]`) the keys below `custom` are found, too; of equal names the project's own counts. A version behind a key
    is the first that has it; all others are of 0.1.

    name: names the folder of the results below `output_path`: no `/`, no `..`, at most 200 bytes;
    output_path: the folder that results are written to;
    seed: of everything that is drawn by chance;
    custom: keys of your own modules;
    benchmark: the data set's name, which chooses how its files are read;
    benchmark_path: the folder of its files;
    train_input_path, dev_input_path, test_input_path: the file of the part, below `benchmark_path` or a path of its own;
    natural_input_path (0.2): the file of the natural questions, as the other parts;
    source_combinations: what `--all-sources` runs; eleven, as in CONVINSE;
    qu: the module that understands questions: a registered name, or `package.module:Class`;
    qu_model: of `sr`, the sequence-to-sequence model: a folder or a hub name; of `history`, a folder that `train qu` wrote (null: the one that ships);
    qu_sr: how `sr` writes representations;
    qu_history: how `history` decides;
    qu_training: how `train qu` trains;
    qu_llm (0.2): the language model of `llm`;
    history_separator: between the turns that a model reads;
    sr_delimiter: between the slots of a representation;
    ers: the module that retrieves and scores evidences: a registered name, or `package.module:Class`;
    kb_path: the folder of the knowledge base;
    clocq_params: CLOCQ's parameters;
    clocq_p: an item with more facts besides those as subject keeps only the latter, as in CLOCQ;
    clocq_use_api: ask a CLOCQ server over HTTP in place of the knowledge base at `kb_path`;
    clocq_host, clocq_port: the address of that server; by default the public CLOCQ API;
    ers_use_cache: keep what was retrieved and computed; `false` touches no disk;
    ers_cache_path: the folder where it is kept, or a Redis server that several machines share, such as `redis://node1:6379`;
    data_store (0.2): where `store:ID` is fetched from, which `kb_path`, `ers_wikipedia_dump`, `ers_passage_index` and the models may be
        (`convinse data push`): a folder, or `s3://BUCKET/FOLDER`, `gs://BUCKET/FOLDER` and what else fsspec takes;
    ers_wikipedia_dump: the dump of Wikipedia evidences; null for none;
    ers_passage_index: an index of plain passages (`retrieve index`), or the addresses of servers of its parts (`retrieve serve`, by commas),
        whose passages are `text` evidences, too;
    ers_on_the_fly: fetch pages that the dump lacks from the MediaWiki API;
    ers_wikipedia_api, ers_wikidata_api: where pages are asked for, and titles of items that the knowledge base has none for;
    ers_user_agent: a contact (mail or URL) in the User-Agent, as Wikimedia asks for; null: the variable `CONVINSE_CONTACT`;
    ers_deadline: for one page in all;
    ers_missing_ttl: until a page that was missing is asked for again;
    evr_min_evidence_length, evr_max_evidence_length: of an evidence's text (CONVINSE: 200 at most);
    evr_max_entities: items of an evidence at most;
    evr_require_entity: drop sentences without an entity besides the page's own when reading (CONVINSE's rule), and with them answers that are plain names; entries of infoboxes and rows of tables stay;
    evs: the scorer; `auto` is the cascade where a model is named, else BM25;
    evs_max_evidences: e, the evidences that the answering stage sees;
    path_to_stopwords (0.2): stop words of `ers: clocq_bm25`, one word a line; null: the project's own;
    evs_model, evs_bi_encoder: cross-encoder and bi-encoder: a model folder or a hub name;
    evs_cascade: how many evidences the cascade's cross-encoder sees;
    evs_max_length: of a question with an evidence, or of an evidence;
    evs_server (0.2): a server that scores evidences in the place of `evs_model`;
    evs_training: how `train ers` trains;
    ha: the module that answers: a registered name, or `package.module:Class`;
    ha_model: the reader of `extractive`, or the model of `seq2seq`: a model folder or a hub name;
    ha_max_answers: answers of a turn at most;
    ha_max_length, ha_stride: of a window that the reader reads, and shared by two of them;
    ha_share_pass: the reader takes what a joint model read while it ranked the evidences (the same answers, one pass less); `false`: it reads them itself;
    ha_ranker (0.2): the trained ranking of answers of `extractive`: a folder of `train ha`, or the one that ships;
    ha_abstain_below (0.2): an answer of `extractive`, `seq2seq` or `llm` that is less probable is marked as a suggestion (`abstained`);
    ha_seq2seq (0.2): how the model of `seq2seq` reads and writes;
    ha_llm (0.2): the language model of `llm`;
    ha_training: how `train ha` trains;
    device: of all models; `auto` is a GPU where there is one;
    backend (0.2): what computes all models but those of `sr` and `seq2seq`: ONNX Runtime (folders that have the graphs) or PyTorch (extra `neural`; any checkpoint); `auto` is `onnx` on a CPU where the folder has the graphs, else `torch`;
    precision (0.2): of all models but that of `sr`; by `onnx` int8 or fp32 (auto: int8, on a GPU fp32), by `torch` on a CPU fp32 or bf16 (auto: fp32), on a GPU bf16, fp16 or fp32 (auto: bf16); `evs_precision` is another name of it;
    token_budget (0.2): of a batch, for all models but that of `sr`; null: by device; `evs_token_budget` is another name of it.
    """

    name: str = "convinse"
    qu: str = "slots"
    qu_model: str | None = None
    qu_sr: QuSr = QuSr()
    qu_history: QuHistory = QuHistory()
    qu_training: QuTraining = QuTraining()
    qu_llm: QuLlm = QuLlm()
    ers: str = "native"
    ha: str = "entity_voting"
    benchmark: str = "embedded"
    benchmark_path: str = SNAPSHOT + "conversations"
    train_input_path: str = "train.json"
    dev_input_path: str = "dev.json"
    test_input_path: str = "test.json"
    natural_input_path: str = "natural.json"
    output_path: str = "results"
    source_combinations: list[str | list[str]] = msgspec.field(
        default_factory=lambda: ["kb", "text", "table", "info", "kb_text", "kb_table", "kb_info", "text_table",
                                 "text_info", "table_info", "kb_text_table_info"]
    )  # fmt: skip
    history_separator: str = " ||| "
    sr_delimiter: str = " || "
    clocq_use_api: bool = False
    clocq_host: str = "https://clocq.mpi-inf.mpg.de/api"
    clocq_port: int | str = 443
    clocq_p: Positive = 1000
    clocq_params: ClocqParams = ClocqParams()
    kb_path: str = SNAPSHOT + "kb"
    ers_use_cache: bool = True
    ers_cache_path: str = _CACHE  # see `cache_path`
    data_store: str | None = None
    ers_wikipedia_dump: str | None = SNAPSHOT + "wikipedia.db"
    ers_passage_index: str | None = None
    ers_on_the_fly: bool = False
    ers_wikipedia_api: Address = "https://en.wikipedia.org/w/api.php"
    ers_wikidata_api: Address = "https://www.wikidata.org/w/api.php"
    ers_user_agent: str | None = None
    ers_deadline: Seconds = 60.0
    ers_missing_ttl: Days = 30.0
    evr_min_evidence_length: Characters = 3
    evr_max_evidence_length: MostCharacters = 400
    evr_max_entities: Positive = 10
    evr_require_entity: bool = False
    evs: Literal["auto", "bm25", "cross_encoder", "cascade"] = "auto"
    evs_max_evidences: Positive = 100
    path_to_stopwords: str | None = None
    evs_model: str | None = None
    evs_bi_encoder: str | None = None
    evs_cascade: EvsCascade = EvsCascade()
    evs_max_length: Window = 256
    evs_training: EvsTraining = EvsTraining()
    evs_server: EvsServer = EvsServer()
    ha_model: str | None = None
    ha_max_answers: Positive = 10
    ha_max_length: Window = 512
    ha_stride: Shared = 128
    ha_share_pass: bool = True
    ha_ranker: str = SNAPSHOT + "answers"
    ha_abstain_below: Share = 0.3
    ha_seq2seq: HaSeq2Seq = HaSeq2Seq()
    ha_training: HaTraining = HaTraining()
    ha_llm: HaLlm = HaLlm()
    device: Device = "auto"
    backend: Backend = "auto"
    precision: Precision = "auto"
    token_budget: Tokens | None = None
    seed: NotNegative = 42
    custom: dict[str, Any] = {}

    @property
    def evs_precision(self) -> Precision:
        """Another name of `precision`."""
        return self.precision

    @property
    def evs_token_budget(self) -> int | None:
        """Another name of `token_budget`."""
        return self.token_budget

    def _by_key(self) -> dict[str, Any]:
        aliases = {alias: getattr(self, key) for alias, key in _ALIASES.items()}
        return {**self.custom, **aliases, **super()._by_key()}

    @property
    def combinations(self) -> list[tuple[str, ...]]:
        """`source_combinations`, parsed."""
        return [parse_sources(text, "source_combinations") for text in self.source_combinations]

    def input_path(self, part: str = "test") -> Path:
        """The conversations of `train`, `dev`, `test` or `natural`: below `benchmark_path` unless the path is absolute or exists."""
        given: str = getattr(self, f"{part}_input_path")
        if given.startswith(SNAPSHOT) or Path(given).is_file():
            return resolve(given)
        return resolve(self.benchmark_path) / given


def cache_path(config: Config) -> str | None:
    """The folder or the server of the evidence cache; None without `ers_use_cache`.

    The default, `cache/`, is the folder of that name where the working directory has one, as a checkout does; else
    the user's own cache folder, so that commands leave nothing where they are called.
    """
    if not config.ers_use_cache:
        return None
    if config.ers_cache_path != _CACHE or Path(_CACHE).is_dir():
        return config.ers_cache_path
    return str(users_cache() or _CACHE)


def users_cache() -> Path | None:
    """The project's folder in the user's own cache folder; None for a user without a home."""
    above = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or above, "convinse").expanduser()
    except RuntimeError:
        return None
    return folder if folder.is_absolute() else None  # XDG: a relative path counts as none


def resolve(path: str) -> Path:
    """A path of the configuration: `snapshot:NAME` lies in the package, others are relative to the working directory."""
    if path.startswith(SNAPSHOT):
        return Path(__file__).parent / "snapshot" / path[len(SNAPSHOT) :]
    return Path(path).expanduser()


def find_config(name: str | os.PathLike[str]) -> Path:
    """The file of a configuration: as given, else in `config/` here, else among the project's own.

    The project's own are found with and without `config/` before their name.

    Raises:
        ConfigError: there is none; the message names the nearest one.
    """
    given = Path(name)
    inner = given.relative_to("config") if given.parts[:1] == ("config",) else given
    folders = (Path("config"), own_configurations())
    for candidate in (given, *(folder / inner for folder in folders)):
        if candidate.is_file():
            return candidate
    known = [path.relative_to(folder).as_posix() for folder in folders for path in folder.rglob("*.yml")]
    raise ConfigError(f"{given}: no such configuration, nor in config/; {nearest(str(given), known or ['config.yml'])}")


def own_configurations() -> Path:
    """The folder of the project's configurations: in an installed package inside of it, else `config/` of the checkout."""
    installed = Path(__file__).with_name("configurations")
    return installed if installed.is_dir() else project_root() / "config"


def project_root() -> Path:
    """The checkout that the package lies in (its `config/` and `tests/`)."""
    return Path(__file__).resolve().parents[1]


def load_config(name_or_path: str | os.PathLike[str] = "config.yml", **overrides: Any) -> Config:
    """Read, check and freeze a configuration; `overrides` are checked like keys of the file.

    Raises:
        ConfigError: a missing file, YAML that is no mapping, an unknown key (the nearest name is suggested), a wrong
            type or value; the message names the file and the key.
    """
    path = find_config(name_or_path)
    where = str(path)
    return parse_config({**_without_aliases(read_yaml(path), where), **_without_aliases(overrides, where)}, where)


def load_settings(kind: type[S], name_or_path: str | os.PathLike[str], **overrides: Any) -> S:
    """Read, check and freeze a file of other settings, such as `ReaderTraining`; the errors are those of `load_config`."""
    path = find_config(name_or_path)
    return _convert({**read_yaml(path), **overrides}, kind, str(path))


def parse_config(data: Mapping[str, Any], where: str = "configuration") -> Config:
    """A mapping of keys -> the checked configuration; `where` names its origin in messages."""
    config = _convert(_without_aliases(data, where), Config, where)
    try:
        combinations = config.combinations
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    _check_places(config, where)
    _check_stored(config, where)
    if config.ha_llm.samples > 1 and not config.ha_llm.temperature:
        raise ConfigError(
            f"{where}: ha_llm.samples: {config.ha_llm.samples} answers of temperature 0 are one answer; set ha_llm.temperature, "
            "such as 0.7"
        )
    if not combinations:
        raise ConfigError(f"{where}: source_combinations is empty; give at least one, such as kb_text")
    if config.evs_cascade.lexical == config.evs_cascade.dense == 0:
        raise ConfigError(f"{where}: evs_cascade: lexical and dense are both 0; the cross-encoder would see nothing")
    if config.clocq_params.bm25_limit is True:
        raise ConfigError(f"{where}: clocq_params.bm25_limit: give a number of facts, or false for no limit")
    return config


def _check_places(config: Config, where: str) -> None:
    """That `name` can be a folder below `output_path`, and no other place; and that paths that are written to can be paths."""
    name = config.name
    reasons = {
        "is empty": not name.strip(),
        "is no name of a folder": name.strip() in (".", ".."),
        "leads to another folder": "/" in name or "\\" in name,
        "has characters that cannot be printed": not name.isprintable(),
        f"is longer than {_LONGEST_NAME} bytes": len(name.encode("utf-8", "surrogatepass")) > _LONGEST_NAME,
    }
    for reason, holds in reasons.items():
        if holds:
            shown = name if len(name) <= _LONGEST_NAME else f"{name[:40]}..."
            raise ConfigError(
                f"{where}: name: {shown!r} {reason}; it becomes a folder below output_path, give a plain word"
            )
    for key in ("output_path", "ers_cache_path"):
        if not (path := getattr(config, key)).isprintable() or not path:
            raise ConfigError(f"{where}: {key}: {path!r} is no path of a folder")
    if is_shared(config.ers_cache_path):
        try:
            check_address(config.ers_cache_path)
        except CacheError as error:
            raise ConfigError(f"{where}: ers_cache_path: {error}") from None


def _check_stored(config: Config, where: str) -> None:
    """That what is named as data of a store can be looked for there."""
    named = {key: getattr(config, key) for key in config.__struct_fields__}
    for key, name in {**named, "qu_history.encoder": config.qu_history.encoder}.items():
        if not isinstance(name, str) or not name.startswith(STORE):
            continue
        if not _ID.fullmatch(name.removeprefix(STORE)):
            raise ConfigError(f"{where}: {key}: '{name}' has no id; give {STORE}ID as convinse data list shows it")
        if not config.data_store:
            raise ConfigError(
                f"{where}: {key}: '{name}' is in no store; set data_store to a folder or s3://BUCKET/FOLDER"
            )


def _without_aliases(data: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The keys of a configuration by the names that they have in it.

    Raises:
        ConfigError: a key is given by both of its names, with different values.
    """
    values = {key: value for key, value in data.items() if key not in _ALIASES}
    for alias in _ALIASES.keys() & data.keys():
        key, value = _ALIASES[alias], data[alias]
        if values.setdefault(key, value) != value:
            raise ConfigError(
                f"{where}: {alias}: {value!r}, but {key}: {values[key]!r}; they are one setting, give {key} only"
            )
    return values


def _convert(data: Mapping[str, Any], kind: type[S], where: str) -> S:
    """A mapping of keys -> a checked structure, those inside of it included."""
    _check_keys(data, kind, where)
    for key, nested in get_type_hints(kind).items():
        if isinstance(nested, type) and issubclass(nested, msgspec.Struct) and isinstance(data.get(key), Mapping):
            _check_keys(data[key], nested, f"{where}: {key}")
    try:
        return msgspec.convert(dict(data), kind)
    except msgspec.ValidationError as error:
        text, _, place = str(error).partition(" - at ")
        key = place.strip("`").removeprefix("$.") or "configuration"
        shown = f" (given: {data.get(key.split('[')[0].split('.')[0])!r})" if place else ""
        raise ConfigError(f"{where}: {key}: {text[0].lower() + text[1:]}{_choices(key, kind)}{shown}") from None


def _choices(key: str, kind: type[msgspec.Struct]) -> str:
    """The valid values of a key that has a fixed set of them."""
    hint: Any = kind
    for name in key.split("."):
        hint = get_type_hints(hint).get(name) if isinstance(hint, type) else None
    return f"; valid: {', '.join(get_args(hint))}" if get_origin(hint) is Literal else ""


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping that a YAML file holds, nothing of it checked. Raises `ConfigError`: it cannot be read, or holds something else."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_CONFIG + 1)
        if len(text) > LARGEST_CONFIG:
            raise ConfigError(f"{path}: larger than {LARGEST_CONFIG >> 10} kB; is this a file of settings?")
        loader = _loader(text.decode("utf-8-sig"))
        node = loader.get_single_node()
        if _values(node, {}) > MOST_SETTINGS:
            raise ConfigError(f"{path}: more than {MOST_SETTINGS} values; does an alias (*name) stand for many?")
        data = None if node is None else loader.construct_document(node)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {one_line(error)}") from None
    except ConfigError:
        raise
    except RecursionError:
        raise ConfigError(f"{path}: not valid YAML: nested too deep") from None
    except Exception as error:  # PyYAML lets through whatever Python says of a value, such as a date of month 13
        raise ConfigError(f"{path}: not valid YAML: {one_line(error)}") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected a mapping of keys to values, found {type(data).__name__}")
    return data


def _values(node: Any, known: dict[int, int]) -> int:
    """How many values a node of YAML stands for; one that holds itself, more than there may be."""
    if id(node) not in known:
        known[id(node)] = MOST_SETTINGS + 1  # while it is looked at
        parts = getattr(node, "value", ())
        within = (
            () if isinstance(parts, str) else chain.from_iterable(p if isinstance(p, tuple) else (p,) for p in parts)
        )
        known[id(node)] = min(MOST_SETTINGS + 1, 1 + sum(_values(part, known) for part in within))
    return known[id(node)]


def _loader(text: str) -> Any:
    """PyYAML's safe loader, for which 3e-5 is a number, too (YAML 1.1 wants 3.0e-5)."""
    import re

    import yaml

    class Loader(yaml.SafeLoader):
        def construct_scalar(self, node: Any) -> Any:
            text = super().construct_scalar(node)
            text.encode()  # half of a surrogate pair, which YAML may write as an escape, is no text
            return text

    number = re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+$")
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", number, list("-+0123456789"))
    return Loader(text)


def _check_keys(data: Mapping[str, Any], struct: type[msgspec.Struct], where: str) -> None:
    valid = list(struct.__struct_fields__)
    wrong = [str(key) for key in data if key not in valid]
    if not wrong:
        return
    hints = [nearest(key, valid) for key in wrong]
    own = "keys of your own modules belong below 'custom'; docs/configuration.md lists the valid ones"
    if len(wrong) == 1:
        near = struct is not Config or hints[0].startswith("did you mean")
        raise ConfigError(f"{where}: unknown key '{wrong[0]}'; {hints[0] if near else own}")
    named = (
        f"'{key}' ({hint})" if hint.startswith("did you mean") else f"'{key}'"
        for key, hint in zip(wrong, hints, strict=True)
    )
    text = f"{where}: {len(wrong)} unknown keys: {', '.join(named)}"
    if struct is not Config:
        raise ConfigError(f"{text}; valid: {', '.join(sorted(valid))}")
    raise ConfigError(
        f"{text}; {own}; of a file of CONVINSE, EXPLAIGNN or FAITH, convinse migrate-config makes one of ours"
    )


def to_dict(config: Config) -> dict[str, Any]:
    """The configuration as plain values, for fingerprints and records."""
    values: dict[str, Any] = msgspec.to_builtins(config)
    return values
