"""The formats that the campaign damages: how a valid file is made, and the commands that read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from . import fuzz_qa_samples as qa_samples
from . import fuzz_readers as readers
from . import fuzz_samples as samples
from .fuzz_run import Step, ended, inside


class FuzzedFormat(NamedTuple):
    """A format.

    Attributes:
        targets: the files that are damaged, each with its kind (see `fuzz_mutations`).
        ways: what reads the files, of which a trial takes one: steps, the later of which look things up in what the first wrote.
        files: the content of each valid file.
        made: steps that make more of them, in the folder of the files.
    """

    targets: Mapping[str, str]
    ways: Sequence[Sequence[Step]]
    files: Mapping[str, bytes] = {}
    made: Sequence[Step] = ()

    def make(self, folder: Path) -> None:
        """Write the valid files. Raises `RuntimeError` where one cannot be made."""
        folder.mkdir()
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        with inside(folder):
            for step in self.made:
                ending = ended(step)
                if ending.fault or ending.status:
                    raise RuntimeError(f"{folder.name}: {step}: {ending}")


def _one(name: str, kind: str, content: bytes, *ways: Sequence[str], **more: bytes) -> FuzzedFormat:
    """One file that is damaged, and what reads it, a command each."""
    return FuzzedFormat({name: kind}, [[way] for way in ways], {name: content, **more})


# ----------------------------------------------------------------------------------------------------------------------

_SEARCHES = [["kb", "search", "kb", question, "--json"] for question in ("who directed titanic", "leo height")]
_KB = [["kb", "build", "dump.json", "--output", "kb"], *_SEARCHES, readers.look_up_items]
_PAGES = ["wikipedia", "build", "pages.jsonl", "--titles", "titles.tsv", "--output", "wikipedia.db"]
_INFO: list[Step] = [["wikipedia", "info", "wikipedia.db"], readers.look_up_pages]
_IMPORT = [["wikipedia", "import-pickle", "items.pickle", "--output", "wikipedia.db"], *_INFO]
_INDEX = ["retrieve", "index", "passages.jl", "--output", "index"]
_SEARCH = ["retrieve", "search", "index", "questions", "--output", "run", "--top", "2", "--format"]


def _conversions(name: str, *source: str) -> list[Sequence[Step]]:
    return [[["convert", name, f"out.{target}", "--to", target, *source]] for target in ("mrqa", "squad", "multiqa")]


def _pipeline(benchmark: str, content: bytes, name: str = "test.json", kind: str = "json") -> FuzzedFormat:
    """Conversations that the pipeline runs over, without models."""
    configuration = (
        f"{{qu: slots, ha: entity_voting, benchmark: {benchmark}, benchmark_path: ., test_input_path: {name}, kb_path: kb, "
        "ers_use_cache: false, ers_wikipedia_dump: null}"
    )
    files = {"dump.json": samples.wikidata_dump(), "c.yml": configuration.encode(), name: content}
    return FuzzedFormat({name: kind}, [[["pipeline", "kb", "c.yml"]]], files, made=_KB[:1])


_PREDICTED = samples.document({"q1": "James Cameron", "q2": ""})
_NO_ANSWER = samples.document({"q1": 0.1, "q2": 0.9})
_TRIPLES = samples.document([{"id": "q1", "prediction_text": "James Cameron", "no_answer_probability": 0.2},
                             {"id": "q2", "prediction_text": "", "no_answer_probability": 0.7}])  # fmt: skip
_SQUAD = ["evaluate", "squad", "data.json", "predictions.json"]
_KLUE = ["evaluate", "klue-mrc", "data.json", "predictions.json"]
_POLEVAL = ["evaluate", "poleval", "expected.tsv", "submission.tsv"]
_DATA = {"data.json": "json", "predictions.json": "json", "probabilities.json": "json"}
_RUNS = {"a.jsonl": samples.finished_turns(), "b.jsonl": samples.finished_turns(right=False)}


FORMATS: Mapping[str, FuzzedFormat] = {
    "Wikidata dump": FuzzedFormat({"dump.json": "lines"}, [_KB], {"dump.json": samples.wikidata_dump()}),
    "knowledge base": FuzzedFormat(
        {"kb/manifest.json": "json", "kb/properties.json": "json"}, [[["kb", "info", "kb"], *_SEARCHES]],
        {"dump.json": samples.wikidata_dump()}, _KB[:1],
    ),
    "saved pages": FuzzedFormat(
        {"pages.jsonl": "lines", "titles.tsv": "table"}, [[_PAGES, *_INFO]],
        {"pages.jsonl": samples.saved_pages(), "titles.tsv": samples.titles()},
    ),
    "Wikipedia dump": FuzzedFormat(
        {"wikipedia.db": "bytes"}, [_INFO], {"pages.jsonl": samples.saved_pages(), "titles.tsv": samples.titles()}, [_PAGES],
    ),
    "passages": FuzzedFormat(
        {"passages.jl": "lines"}, [[_INDEX, [*_SEARCH, "jsonl"]]],
        {"passages.jl": qa_samples.passages(), "questions": qa_samples.questions()},
    ),
    "passage index": FuzzedFormat(
        {"index/manifest.json": "json"}, [[[*_SEARCH, "trec"]]],
        {"passages.jl": qa_samples.passages(), "questions": qa_samples.questions()}, [_INDEX],
    ),
    **{
        f"questions, {kind}": FuzzedFormat(
            {"questions": kind}, [[[*_SEARCH, form]] for form in ("poleval", "trec", "jsonl")],
            {"passages.jl": qa_samples.passages(), "questions": content}, [_INDEX],
        )
        for kind, content in (("lines", qa_samples.questions()), ("table", qa_samples.questions_table()))
    },
    "judged pairs": FuzzedFormat(
        {"pairs.tsv": "table"}, [[readers.read("training.passage_pairs", "read_pairs", Path("pairs.tsv"))]], {"pairs.tsv": qa_samples.pairs()},
    ),
    "convmix": _pipeline("convmix", samples.document(samples.conversations())),
    "convmix, lines": _pipeline("convmix", samples.lines(samples.conversations()), "test.jsonl", "lines"),
    "convquestions": _pipeline("convquestions", samples.convquestions()),
    "compmix": _pipeline("compmix", samples.compmix()),
    "timequestions": _pipeline("timequestions", samples.timequestions()),
    "lcquad2": _pipeline("lcquad2", samples.lcquad()),
    "MRQA": FuzzedFormat(
        {"data.jsonl": "lines"},
        [[["validate", "data.jsonl"]], [["validate", "data.jsonl", "--format", "mrqa", "--all"]], [["visualize", "data.jsonl"]],
         *_conversions("data.jsonl"), *_conversions("data.jsonl", "--from", "mrqa")],
        {"data.jsonl": qa_samples.mrqa()},
    ),
    "SQuAD": FuzzedFormat(
        {"data.json": "json"},
        [[["validate", "data.json"]], [["validate", "data.json", "--format", "squad"]], *_conversions("data.json", "--from", "squad")],
        {"data.json": qa_samples.squad()},
    ),
    "MultiQA": FuzzedFormat(
        {"data.jsonl": "lines"},
        [[["validate", "data.jsonl"]], [["validate", "data.jsonl", "--format", "multiqa"]],
         [["validate", "data.jsonl", "--format", "multiqa", "--fix-header"]], *_conversions("data.jsonl", "--from", "multiqa")],
        {"data.jsonl": qa_samples.multiqa()},
    ),
    **{
        f"{name} into others": FuzzedFormat(
            {"data": kind}, [*_conversions("data"), *_conversions("data", "--from", name)], {"data": content}
        )
        for name, kind, content in (
            ("hotpotqa", "json", qa_samples.hotpotqa()), ("qamr", "lines", qa_samples.qamr()), ("boolq", "lines", qa_samples.boolq()),
        )
    },
    "wikitablequestions into others": FuzzedFormat(
        {"data.tsv": "table", "tables.jsonl": "lines"}, _conversions("data.tsv"),
        {"data.tsv": qa_samples.table_questions(), "tables.jsonl": qa_samples.tables()},
    ),
    "tables of CSV": FuzzedFormat(
        {"csv/1.csv": "bytes"}, _conversions("data.tsv"), {"data.tsv": qa_samples.table_questions(), "csv/1.csv": qa_samples.csv_table()},
    ),
    "evaluate answers": _one("a.jsonl", "lines", samples.finished_turns(), ["evaluate", "answers", "a.jsonl"]),
    "evaluate compare": FuzzedFormat({"a.jsonl": "lines"}, [[["evaluate", "compare", "a.jsonl", "b.jsonl"]]], _RUNS),
    "evaluate trec": FuzzedFormat({"a.jsonl": "lines"}, [[["evaluate", "trec", "a.jsonl", "b.jsonl", "--output", "out"]]], _RUNS),
    "evaluate mrqa": FuzzedFormat(
        {"data.jsonl": "lines", "predictions.json": "json"},
        [[["evaluate", "mrqa", "data.jsonl", "predictions.json", *more]] for more in ([], ["--skip-no-answer"])],
        {"data.jsonl": qa_samples.mrqa(), "predictions.json": _PREDICTED},
    ),
    "evaluate squad": FuzzedFormat(
        _DATA, [[[*_SQUAD, *more]] for more in (["--na-probs", "probabilities.json"], ["--na-probs", "probabilities.json"], [])],
        {"data.json": qa_samples.squad(), "predictions.json": _PREDICTED, "probabilities.json": _NO_ANSWER},
    ),
    "evaluate klue-mrc": FuzzedFormat(
        {"data.json": "json", "predictions.json": "json"}, [[_KLUE], [[*_KLUE, "--char-f1", "--rouge-w"]]],
        {"data.json": qa_samples.klue(), "predictions.json": _TRIPLES},
    ),
    "evaluate klue-mrc, texts": FuzzedFormat(
        _DATA, [[[*_KLUE, "--na-probs", "probabilities.json"]]],
        {"data.json": qa_samples.klue(), "predictions.json": _PREDICTED, "probabilities.json": _NO_ANSWER},
    ),
    "evaluate poleval": FuzzedFormat(
        {"expected.tsv": "table", "submission.tsv": "table", "in.tsv": "table"}, [[_POLEVAL]],
        {"expected.tsv": qa_samples.expected(), "submission.tsv": qa_samples.submission(), "in.tsv": qa_samples.questions_table()},
    ),
    "evaluate poleval, pairs": FuzzedFormat(
        {"expected.tsv": "table", "submission.tsv": "table"}, [[_POLEVAL]],
        {"expected.tsv": qa_samples.pairs(), "submission.tsv": qa_samples.scored_pairs()},
    ),
    "results": FuzzedFormat(
        {"results/convinse/kb/turns.jsonl": "lines", "results/convinse/kb/run.json": "json", "results/convinse/kb/metrics.json": "json"},
        [[["pipeline", "kb", "c.yml"]], [["pipeline", "kb", "c.yml", "--restart"]]],
        _pipeline("convmix", samples.document(samples.conversations())).files, [_KB[0], ["pipeline", "kb", "c.yml"]],
    ),
    "configuration": FuzzedFormat({"c.yml": "yaml"}, [[readers.configuration]], {"c.yml": samples.CONFIGURATION}),
    "stage file": FuzzedFormat(
        {"ers.jsonl": "lines"}, [[["pipeline", "text", "c.yml", "--from", "ers.jsonl"]]],
        {**_pipeline("convmix", b"[]").files, "ers.jsonl": samples.finished_turns()}, made=_KB[:1],
    ),
    "training settings": FuzzedFormat(
        {"c.yml": "yaml"}, [[["train", "reader", "--config", "c.yml"]]], {"c.yml": samples.READER_SETTINGS},
    ),
    "weights": FuzzedFormat(
        {"history/history.json": "json", "answers/answers.json": "json"},
        [[readers.read("question_understanding.history_weights", "read_weights", Path("history")),
          readers.read("heterogeneous_answering.answer_weights", "read_answer_weights", Path("answers"))]],
        made=[readers.model_files],
    ),
    "model": FuzzedFormat({"model/config.json": "json", "model/onnx.json": "json", "model/tokenizer.json": "json"}, [[readers.model]],
                          made=[readers.model_files]),
    "annotated turns": FuzzedFormat({"annotated.json": "json"}, [[readers.annotated]], {"annotated.json": samples.annotated()}),
    "answers of MediaWiki": FuzzedFormat({"answer.json": "json"}, [[readers.mediawiki]], {"answer.json": samples.mediawiki()}),
    "answers of CLOCQ": FuzzedFormat({"answer.json": "json"}, [[readers.clocq]], {"answer.json": samples.clocq()}),
    "vectors": FuzzedFormat({"cache/vectors/*": "bytes"}, [[readers.vectors]], made=[readers.vectors]),
    "evidence cache": FuzzedFormat({"cache/entries/cache.db": "bytes"}, [[readers.cached("cache")]], made=[readers.cached("cache")]),
}  # fmt: skip
