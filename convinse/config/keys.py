"""Every key of the configuration, with its default; the defaults stand here and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from ..records.evidence import parse_sources
from ..support.checksums import users_cache
from ..support.errors import DataError
from .places import LIVE, SNAPSHOT, resolve
from .server_settings import EvsServer, LanguageModelSettings
from .stage_settings import ClocqParams
from .training_settings import EvsTraining, HaTraining, QuTraining
from .value_types import (
    Address,
    Backend,
    Characters,
    Days,
    Device,
    FolderName,
    FolderPath,
    Gigabytes,
    InputPath,
    MostCharacters,
    NotNegative,
    Positive,
    Precision,
    Settings,
    Share,
    Tokens,
)

_CACHE = "cache/"


class Config(Settings, frozen=True, kw_only=True):
    """All settings of a run. docs/configuration.md has them in groups; what follows a key here is what it says there.

    >>> config = load_config("lexical.yml", evs_max_evidences=20)
    >>> config.evs_max_evidences, config["evs_max_evidences"], config.get("my_key", 1)
    (20, 20, 1)

    By key (`config["seed"]`) the keys below `custom` are found, too; of equal names the project's own counts. A version behind a key
    is the first that has it; all others are of 0.1.

    name: names the folder of the results below `output_path`: no `/`, no `..`, at most 200 characters;
    output_path: the folder that results are written to;
    seed: of everything that is drawn by chance;
    custom: keys of your own modules;
    benchmark: the data set's name, which chooses how its files are read;
    benchmark_path: the folder of its files;
    train_input_path, dev_input_path, test_input_path: the file of the part, below `benchmark_path` or a path of its own;
    source_combinations: what `--all-sources` runs; eleven, as in CONVINSE;
    qu: the module that understands questions: a registered name, or `package.module:Class`;
    qu_model: of `sr`, the sequence-to-sequence model: a folder or a hub name;
    qu_rewriter (0.2): of `slots`, a joint model whose rewrite head puts questions in full (null: the question before and its answer are put before the question);
    qu_training: how `train qu` trains;
    qu_llm (0.2): the language model of `llm`;
    history_separator: between the turns that a model reads;
    sr_delimiter: between the slots of a representation;
    ers: the module that retrieves and scores evidences: a registered name, or `package.module:Class`;
    kb_path: the folder of the knowledge base; `none` (0.2) for none; `live` (0.2) asks Wikidata;
    live_sparql (0.2): with `kb_path: live`, a SPARQL endpoint over Wikidata that is asked for facts about an item; null: Wikidata's search is;
    live_max_age (0.2): with `kb_path: live`, for which an answer of Wikidata or Wikipedia counts; it is used longer where they cannot be asked;
    clocq_params: CLOCQ's parameters;
    clocq_p: an item with more facts besides those as subject keeps only the latter, as in CLOCQ;
    clocq_use_api: ask a CLOCQ server over HTTP in place of the knowledge base at `kb_path`;
    clocq_host, clocq_port: the address of that server; by default the public CLOCQ API;
    ers_use_cache: keep what was retrieved and computed; `false` touches no disk;
    ers_cache_path: the folder where it is kept;
    ers_cache_size (0.3): gigabytes that entries, and that vectors may take there, before the oldest go;
    ers_wikipedia_dump: the dump of Wikipedia evidences; null for none;
    ers_documents (0.3): the folder of an index of documents (`convinse index`), which are asked beside Wikidata and Wikipedia; null for none;
    ers_passage_index: an index of plain passages (`retrieve index`), whose passages are `text` evidences, too;
    ers_on_the_fly: fetch pages that the dump lacks from the MediaWiki API;
    ers_wikipedia_api, ers_wikidata_api: where pages are asked for, and titles of items that the knowledge base has none for;
    evr_min_evidence_length, evr_max_evidence_length: of an evidence's text (CONVINSE: 200 at most);
    evr_max_entities: items of an evidence at most;
    evr_min_letter_share: drop evidences of Wikipedia in which fewer of the characters are letters (CONVINSE: 0.5), as in entries of numbers;
    evr_require_entity: drop sentences without an entity besides the page's own when reading (CONVINSE's rule), and with them answers that are plain names; entries of infoboxes and rows of tables stay;
    evs: the scorer; `auto` is the cascade where a model is named, else BM25;
    evs_max_evidences: e, the evidences that the answering stage sees;
    evs_model, evs_bi_encoder: cross-encoder and bi-encoder: a model folder or a hub name;
    evs_cascade: evidences that BM25, and as many that the bi-encoder chooses for the cascade's cross-encoder;
    evs_server (0.2): a server that scores evidences in the place of `evs_model`;
    evs_training: how `train ers` trains;
    ha: the module that answers: a registered name, or `package.module:Class`;
    ha_model: the reader of `extractive`, or the model of `seq2seq`: a model folder or a hub name;
    ha_heads (0.2): the model whose heads tell which type an answer is of, and yes or no; null: `ha_model`;
    ha_max_answers: answers of a turn at most;
    ha_ranker (0.2): the trained ranking of answers of `extractive`: a folder of `train ha`, or the one that ships;
    ha_abstain_below (0.2): an answer of `extractive`, `seq2seq` or `llm` that is less probable is marked as a suggestion (`abstained`);
    ha_llm (0.2): the language model of `llm`;
    ha_training: how `train ha` trains;
    attribution (0.2): in conversations, name the evidences that an answer rests on, by answering again without them;
    device: of all models; `auto` is a GPU where there is one;
    backend (0.2): what computes all models but those of `sr` and `seq2seq`: ONNX Runtime (folders that have the graphs) or PyTorch (extra `neural`; any checkpoint); `auto` is `onnx` on a CPU where the folder has the graphs, else `torch`;
    precision (0.2): of all models but that of `sr`; by `onnx` int8 or fp32 (auto: int8, on a GPU fp32), by `torch` on a CPU fp32 or bf16 (auto: fp32), on a GPU bf16, fp16 or fp32 (auto: bf16); `evs_precision` is another name of it;
    num_beams (0.3): texts that the models of `sr` and `seq2seq` look for (1: one, greedily; CONVINSE: 20);
    token_budget (0.2): of a batch, for all models but that of `sr`; null: by device.
    """

    name: FolderName = "convinse"
    qu: str = "slots"
    qu_model: InputPath | None = None
    qu_rewriter: InputPath | None = None
    qu_training: QuTraining = QuTraining()
    qu_llm: LanguageModelSettings = LanguageModelSettings()
    ers: str = "native"
    ha: str = "entity_voting"
    benchmark: str = "embedded"
    benchmark_path: InputPath = SNAPSHOT + "conversations"
    train_input_path: InputPath = "train.json"
    dev_input_path: InputPath = "dev.json"
    test_input_path: InputPath = "test.json"
    output_path: FolderPath = "results"
    source_combinations: Annotated[list[str | list[str]], msgspec.Meta(min_length=1)] = msgspec.field(
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
    kb_path: InputPath = SNAPSHOT + "kb"
    live_sparql: Address | None = None
    live_max_age: Days = 1.0
    ers_use_cache: bool = True
    ers_cache_path: FolderPath = _CACHE  # see `cache_path`
    ers_cache_size: Gigabytes = 50.0
    ers_wikipedia_dump: InputPath | None = SNAPSHOT + "wikipedia.db"
    ers_documents: InputPath | None = None
    ers_passage_index: InputPath | None = None
    ers_on_the_fly: bool = False
    ers_wikipedia_api: Address = "https://en.wikipedia.org/w/api.php"
    ers_wikidata_api: Address = "https://www.wikidata.org/w/api.php"
    evr_min_evidence_length: Characters = 3
    evr_max_evidence_length: MostCharacters = 400
    evr_max_entities: Positive = 10
    evr_min_letter_share: Share = 0.0
    evr_require_entity: bool = False
    evs: Literal["auto", "bm25", "cross_encoder", "cascade"] = "auto"
    evs_max_evidences: Positive = 100
    evs_model: InputPath | None = None
    evs_bi_encoder: InputPath | None = None
    evs_cascade: Positive = 100
    evs_training: EvsTraining = EvsTraining()
    evs_server: EvsServer = EvsServer()
    ha_model: InputPath | None = None
    ha_heads: InputPath | None = None
    ha_max_answers: Positive = 10
    ha_ranker: InputPath = SNAPSHOT + "answers"
    ha_abstain_below: Share = 0.3
    ha_training: HaTraining = HaTraining()
    ha_llm: LanguageModelSettings = LanguageModelSettings()
    attribution: bool = True
    device: Device = "auto"
    backend: Backend = "auto"
    precision: Precision = "auto"
    num_beams: Positive = 5  # of Fusion-in-Decoder, each takes 370 MB with 100 evidences and a T5 base
    token_budget: Tokens | None = None
    seed: NotNegative = 42
    custom: dict[str, Any] = {}

    @property
    def evs_precision(self) -> Precision:
        """Another name of `precision`."""
        return self.precision

    def _by_key(self) -> dict[str, Any]:
        return {**self.custom, "evs_precision": self.precision, **super()._by_key()}

    @property
    def combinations(self) -> list[tuple[str, ...]]:
        """`source_combinations`, parsed."""
        return [parse_sources(text, "source_combinations") for text in self.source_combinations]

    @property
    def asks_web(self) -> bool:
        """True if retrieval may ask servers: for facts, live or of the CLOCQ API, or for articles."""
        return self.ers_on_the_fly or self.clocq_use_api or self.kb_path == LIVE

    def input_path(self, part: str = "test") -> Path:
        """The conversations of `train`, `dev`, `test`, `natural` or `natural_third`: below `benchmark_path` unless the path is absolute or exists.

        A default name is looked for below `benchmark_path` alone: a file that happens to lie here is not meant.
        """
        file: str = getattr(self, f"{part}_input_path", f"{part}.json")
        is_default = file == f"{part}.json"
        if file.startswith(SNAPSHOT) or (not is_default and Path(file).is_file()):
            return resolve(file)
        return resolve(self.benchmark_path) / file

    def existing_input_path(self, part: str = "test") -> Path:
        """`input_path`. Raises `DataError` if the file is missing."""
        path = self.input_path(part)
        if not path.is_file():
            key = f"{part}_input_path"
            if key not in self.__struct_fields__:
                raise DataError(f"{path}: no such file; check benchmark_path")
            raise DataError(
                f"{path}: no such file; check {key} and benchmark_path (it is looked for beside the "
                "configuration, in the working folder and below benchmark_path)"
            )
        return path


def cache_path(config: Config) -> str | None:
    """The folder of the cache; None without `ers_use_cache`.

    The default, `cache/`, is the folder of that name where the working directory has one, as a checkout does; else
    the user's own cache folder, so that commands leave nothing where they are called.
    """
    if not config.ers_use_cache:
        return None
    if config.ers_cache_path != _CACHE or Path(_CACHE).is_dir():
        return config.ers_cache_path
    return str(users_cache() or _CACHE)
