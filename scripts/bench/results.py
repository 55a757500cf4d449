"""How many questions are answered right, by sets of questions, sources, domains and kinds.

    bash run.sh bench results [--parts PART] [--work DIR]

`sources` to `understanding` are of the embedded conversations; the other parts are sets of their own, with wikidata-27k, saved pages or
files (`answer_sets.py`, `spans.py`, `wikidata_sets.py`).

Runs of the pipeline with `config.yml` (the embedded reader), `small.yml` (the embedded model alone) and `lexical.yml` (its rewrite head alone),
of which the tables show what their `metrics.json` have. Intervals are of 95 %, by bootstrap over conversations. With --work the runs stay in the folder, and what is
finished there is not run again unless the code changed.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from convinse.config import load_config
from convinse.experiment import run_experiment
from convinse.formats.run_folder import TURNS
from convinse.records.evidence import SOURCES
from convinse.reports.comparison import interval
from convinse.scoring.pipeline_runs import measured_conversations

from .answer_sets import dialogues, documents, followups, reliability, third, topics, values
from .harness import Bench, Figures, Spec, note, run
from .spans import spans
from .wikidata_sets import HISTORIES, convmix, convquestions, temporal

MODEL, SMALL, NO_MODEL = "config.yml", "small.yml", "lexical.yml"
ALL = "_".join(SOURCES)
NATURAL, FRESH = "natural", "natural-fresh"
UNDERSTANDING = ("slots", "nc_init", "nc_prev", "nc_init_prev", "nc_all")
# kind of a natural question -> in words; docs/snapshot.md has an example of each
KINDS = {
    "misspelt": "with a wrong letter", "role": "who played or sang what", "simple": "for one fact", "yes_no": "yes or no",
    "comparison": "which of two", "superlative": "the first, the most", "number": "a number", "date": "a date",
    "alias": "by a stage name or a nickname", "name": "a name that is no item", "earlier_answer": "about an earlier answer",
    "ellipsis": "half a sentence",
}  # fmt: skip
MEASURES = {
    "questions": ("num_questions", "{}"), "P@1": ("p_at_1", "{:.3f}"), "95 %": ("interval", "{}"), "MRR": ("mrr", "{:.3f}"),
    "Hit@5": ("h_at_5", "{:.3f}"), "presence": ("answer_presence", "{:.3f}"), "P@1, no model": ("without", "{:.3f}"),
}  # fmt: skip
SURENESS = {
    "calibration error": ("calibration_error", "{:.3f}"), "by chance": ("calibration_error_by_chance", "{:.3f}"),
    "abstained": ("abstained_answerable", "{:.1%}"),
    "abstained, of right ones": ("abstained_right", "{:.1%}"), "abstained, no answer": ("abstained_unanswerable", "{:.1%}"),
}  # fmt: skip


def measured(
    bench: Bench, configuration: str, sources: Sequence[str] = SOURCES, part: str = "test", history: str = "gold",
    **settings: Any,
) -> Figures:  # fmt: skip
    """What `metrics.json` of a run has, and the interval of its P@1; runs that are finished in the folder are taken as they are."""
    name = "-".join([configuration.removesuffix(".yml"), part, history, *map(str, settings.values())])
    note(f"{name}, {'_'.join(sources)} ...")
    config = load_config(
        configuration, name=name, output_path=str(bench.cache), ers_cache_path=str(bench.cache / "cache"), **settings
    )
    done = run_experiment(
        config, sources, use_gold_answers=HISTORIES[history], limit=bench.size.limit, quiet=True, part=part
    )
    measured: list[float] = []
    groups: list[str] = []
    for _, group, turns in measured_conversations(done.path / TURNS):
        measured += [turn["p_at_1"] for turn in turns.values()]
        groups += [group] * len(turns)
    _, low, high = interval(measured, groups)
    abstained, unanswerable = done.metrics["abstained"], done.metrics["unanswerable"]
    return {
        **done.metrics, "interval": f"{low:.3f}-{high:.3f}", "abstained_answerable": abstained["answerable"],
        "abstained_right": abstained["right"],
        "abstained_unanswerable": unanswerable["abstained"] if unanswerable["num_questions"] else None,
    }  # fmt: skip


def sources_part(bench: Bench) -> Figures:
    rows = {}
    for sources in (
        ("kb", "text", "info"),
        *load_config(MODEL).combinations,
    ):  # the first are those of README's main job
        without = measured(bench, NO_MODEL, sources)
        rows["_".join(sources)] = {**measured(bench, MODEL, sources), "without": without["p_at_1"]}
    return _shown(bench, "embedded test part, gold answers of earlier turns", ("sources",), rows)


def groups_part(bench: Bench) -> Figures:
    figures, without = measured(bench, MODEL), measured(bench, NO_MODEL)
    rows = {}
    for group, label in (("domains", "{}"), ("sources", "answer in {}")):
        for name, row in figures[group].items():
            beside = without[group].get(name, {"p_at_1": None})
            rows[label.format(name)] = {**row, "without": beside["p_at_1"]}
            if group == "sources":  # present is what the questions are chosen by
                del rows[label.format(name)]["answer_presence"]
    return _shown(bench, f"embedded test part, {ALL}, gold answers of earlier turns", ("",), rows)


def histories_part(bench: Bench) -> Figures:
    """Gold and predicted answers of earlier turns, with the model and without; the parts that settings were chosen on beside them."""
    runs = [("test", MODEL), ("test", SMALL), ("test", NO_MODEL), ("train", MODEL), ("dev", MODEL)]
    rows = {
        (part, configuration, history): measured(bench, configuration, part=part, history=history)
        for part, configuration in runs
        for history in HISTORIES
    }
    return _shown(bench, f"embedded conversations, {ALL}", ("part", "configuration", "history"), rows)


def natural_part(bench: Bench, part: str) -> Figures:
    """A part of the natural questions that is reported on: all of it, then by kind with predicted answers of earlier turns."""
    rows = {
        (configuration, history): measured(bench, configuration, part=part, history=history)
        for configuration in (MODEL, SMALL, NO_MODEL)
        for history in HISTORIES
    }
    figures = _shown(bench, f"{part} questions", ("configuration", "history"), rows)
    kinds, without = rows[MODEL, "predicted"]["kinds"], rows[NO_MODEL, "predicted"]["kinds"]
    by_kind = {
        label: {**kinds[kind], "without": without[kind]["p_at_1"]} for kind, label in KINDS.items() if kind in kinds
    }
    ordered = dict(sorted(by_kind.items(), key=lambda row: -row[1]["p_at_1"]))
    return figures | _shown(bench, f"{part} questions by kind, predicted answers of earlier turns", ("kind",), ordered)


def understanding_part(bench: Bench) -> Figures:
    rows = {name: measured(bench, NO_MODEL, part="dev", qu=name) for name in UNDERSTANDING}
    rows["slots, no qu_rewriter"] = measured(bench, NO_MODEL, part="dev", qu_rewriter=None)
    return _shown(bench, f"embedded dev part, {NO_MODEL}, gold answers of earlier turns", ("qu",), rows)


def _shown(bench: Bench, title: str, words: Sequence[str], rows: Mapping[Any, Figures]) -> Figures:
    shown = {title: MEASURES} | ({f"{title}: how sure it is": SURENESS} if len(words) > 1 else {})
    for name, columns in shown.items():
        bench.compare(name, words, columns, {(): rows})
    named = {row if isinstance(row, str) else ", ".join(row): figures for row, figures in rows.items()}
    keys = [key for columns in shown.values() for key, _ in columns.values()]
    return {f"{title}: {name}": {key: figures.get(key) for key in keys} for name, figures in named.items()}


_PARTS = {
    "sources": sources_part, "groups": groups_part, "histories": histories_part, "natural": partial(natural_part, part=NATURAL),
    "fresh": partial(natural_part, part=FRESH),
    "understanding": understanding_part,
    "third": third, "followups": followups, "topics": topics, "values": values, "reliability": reliability, "documents": documents, "spans": spans, "dialogues": dialogues,
    "convquestions": convquestions, "convmix": convmix, "temporal": temporal,
}  # fmt: skip


class Size(NamedTuple):
    """How much is answered; None for all."""

    limit: int | None = None  # conversations of a set
    groups: int | None = None  # of ConvQuestions, each in two versions
    convmix: str = "all"  # or `items`: conversations about an item of wikidata-27k; or `trial`
    timed: int | None = None  # temporal questions that are looked at
    put: int | None = None  # those that are put
    spans: int | None = None  # questions with gold spans


_SIZES = (Size(3, 1, "trial", 100, 20, 20), Size(groups=15, convmix="items", put=400, spans=400), Size())
_OPTIONS = {"--spans": {"type": Path, "metavar": "FILE", "help": "of the part spans: JSON lines (default: doc2dial)"}}
SPEC = Spec("results", __doc__, _PARTS, _SIZES, options=_OPTIONS, prepare=lambda bench: bench.need("scipy"))

if __name__ == "__main__":
    run(SPEC)
