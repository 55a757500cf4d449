"""Real conversations over wikidata-27k: every question understanding module, gold and predicted history, and speed.

    bash run.sh bench conversations
    bash run.sh bench conversations --config lexical.yml --work DIR
    bash run.sh bench conversations --parts speed --against CHECKOUT

The conversations are those of convquestions/val_wd27k: of its 32 versions a group two, which together have each wording
once; by default of 15 groups, with --full of all 46. Gold texts count as the date or the number that they hold, a bare year
as any date in it; "P@1 label" also counts answers that have the gold label under another id, for the published ids are often
wrong. With --against the turns of the speed part are also answered by another version, in turn, over the same sources.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from convinse.config import Config, load_config
from convinse.evidence_retrieval_scoring.native import NativeERS
from convinse.pipeline import Pipeline
from convinse.question_understanding.base import QuestionUnderstanding
from convinse.records.conversation import Conversation
from convinse.records.evidence import DEFAULT_SOURCES
from convinse.support.files import replacing
from convinse.support.progress import progress
from convinse.support.registry import find_module

from ..candidates import build_sources
from ..harness import Bench, Figures, Spec, add_against, apart, note, other_version, run, timed, versions
from .turns import SUBSETS, failures, figures, losses, more_questions, read_conversations, turns_of

MODULES = ("nc_all", "nc_init", "nc_prev", "nc_init_prev", "slots", "history")
HISTORIES = {"gold": True, "predicted": False}  # history -> whether earlier turns count with their gold answers
# what the default module should reach on one-hop turns
PRESENCE, P_AT_1 = 0.90, {"gold": 0.45, "predicted": 0.35}
COLUMNS = {
    "turns": ("turns", "{}"), "presence": ("answer_presence", "{:.1%}"), "P@1": ("p_at_1", "{:.1%}"),
    "MRR": ("mrr", "{:.1%}"), "Hit@5": ("h_at_5", "{:.1%}"), "P@1 label": ("p_at_1_label", "{:.1%}"),
}  # fmt: skip
Runs = dict[str, dict[str, dict[str, Figures]]]  # history -> module -> subset of the turns -> figures


class Work(NamedTuple):
    """What the parts measure with: the configuration's name, the keys that are replaced, the conversations."""

    config: str
    overrides: dict[str, str]
    conversations: list[Conversation]


def load(work: Work, module: str | None = None) -> Config:
    """The configuration over the bench's sources; `module` replaces its question understanding."""
    return load_config(work.config, **work.overrides, **({"qu": module} if module else {}))


def measure(work: Work, sources: str) -> tuple[str, Runs, list[Conversation]]:
    """Answer all conversations with every module; retrieval, scoring and answering are shared by all of them.

    Returns:
        The module that the configuration names, the figures, the conversations as that module answers them with gold
        history.
    """
    default = load(work)
    runs: Runs = {history: {} for history in HISTORIES}
    with Pipeline(default) as shared:
        for module in [default.qu, *(name for name in MODULES if name != default.qu)]:
            pipeline = Pipeline(load(work, module), ers=shared.ers, ha=shared.ha, resources=shared.resources)
            for history, use_gold in HISTORIES.items():
                with progress(f"{sources}, {module}, {history}", len(work.conversations), "conversations") as advance:
                    answered = list(answers(pipeline, work.conversations, sources, use_gold, advance))
                runs[history][module] = {subset: figures(turns_of(answered, subset)) for subset in SUBSETS}
                if module == default.qu and use_gold:
                    of_default = answered
            pipeline.qu.store_cache()
    return default.qu, runs, of_default


def answers(
    pipeline: Pipeline, conversations: Sequence[Conversation], sources: str, use_gold: bool, advance: Any
) -> Iterator[Conversation]:
    """The answered conversations, as many at once as the pipeline likes."""
    step = pipeline.conversations_at_once
    for place in range(0, len(conversations), step):
        done = pipeline.run(conversations[place : place + step], sources, use_gold)
        yield from done
        advance(len(done))


def quality_part(bench: Bench, sources: str, name: str) -> Figures:
    """All modules over one combination of sources, and where the turns of the default module are lost."""
    work = bench.state
    default, runs, answered = measure(work, sources)
    turns = turns_of(answered)
    with_pages = sum(any(e["source"] != "kb" for e in turn["top_evidences"]) for turn in turns)
    rows = {
        history: {(module, subset): own for module, subsets in modules.items() for subset, own in subsets.items()}
        for history, modules in runs.items()
    }
    title = f"{name}: {with_pages} of {len(turns)} turns of {default} (default) have evidences of pages"
    bench.compare(title, ("history", "module", "subset"), COLUMNS, rows)
    lost = {subset: losses(turns_of(answered, subset)) for subset in SUBSETS}
    reasons = {
        reason: {subset: counts[reason] for subset, counts in lost.items()} for reason, _ in lost["all"].most_common()
    }
    columns = {subset: (subset, "{}") for subset in SUBSETS}
    bench.compare(f"{name}, {default}, gold: failures", ("lost",), columns, {(): reasons})
    want(bench, name, default, runs)
    by_turn = {place: figures([turn for turn in turns if turn["turn"] == place])
               for place in sorted({turn["turn"] for turn in turns})}  # fmt: skip
    path = bench.options.output.with_name(f"conversations-failures-{name}.json")
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(list(failures(answered)), indent=2, ensure_ascii=False), encoding="utf-8")
    print(path)
    return {
        "config": work.config, "conversations": len(work.conversations), "runs": runs,
        "default_gold_by_turn": by_turn, "default_gold_turns_with_pages": with_pages, "default_gold_lost": lost,
    }  # fmt: skip


def want(bench: Bench, sources: str, default: str, runs: Runs) -> None:
    """What the default module should reach on one-hop turns, and the naive modules should not."""
    for history, least in P_AT_1.items():
        hop = {module: subsets["one_hop"] for module, subsets in runs[history].items()}
        own, what = hop[default], f"{sources}, {history}"
        if not own["turns"]:
            continue
        if history == "gold":
            bench.want(f"{what}: answer presence", own["answer_presence"], PRESENCE)
        bench.want(f"{what}: P@1", own["p_at_1"], least)
        naive = [figures["p_at_1"] for module, figures in hop.items() if module.startswith("nc_")]
        if naive:
            bench.want(f"{what}: P@1 above the best nc_*", own["p_at_1"], max(naive) + 1e-9)


STAGES = ("qu", "retrieval", "scoring", "answering")
CACHES = {"cold": 600.0, "warm": 60.0}  # cache -> most seconds for FULL turns
TIMES = {"cold": 2.0}  # another version's seconds, times ours
FULL = 1000


def gather(conversations: Sequence[Conversation], data: Path, turns: int) -> list[Conversation]:
    """Conversations of `turns` turns in all, no question of which is repeated: those given, then single questions."""
    found: list[Conversation] = []
    left = turns
    for conversation in conversations:
        questions = list(islice(conversation["questions"], left))
        if questions:
            found.append({**conversation, "questions": questions})
            left -= len(questions)
    return found + (more_questions(data, left) if left else [])


def timed_run(name: str, overrides: dict[str, str], conversations: list[Conversation]) -> Figures:
    """Build the pipeline, answer all conversations, close the caches.

    Returns:
        Seconds of each stage and in `total` (the rest is loading, copying and the cache), `cpu` seconds of this
        process, `turns`, and how many of them have a `representation` of their own.
    """
    start, cpu = time.perf_counter(), time.process_time()
    retrieval = 0.0
    with Pipeline(load(Work(name, overrides, conversations))) as pipeline:
        if isinstance(pipeline.ers, NativeERS):  # of another module retrieval counts as scoring
            retrieve = pipeline.ers.retrieve

            def clocked(*arguments: Any) -> Any:
                nonlocal retrieval
                seconds, result = timed(lambda: retrieve(*arguments))
                retrieval += seconds
                return result

            pipeline.ers.retrieve = clocked  # type: ignore[method-assign]
        answered = answers(pipeline, conversations, DEFAULT_SOURCES, True, lambda number: None)
        represented = [turn["structured_representation"] for own in answered for turn in own["questions"]]
    spent = pipeline.seconds
    values = (spent["qu"], retrieval, spent["ers"] - retrieval, spent["ha"])
    total = time.perf_counter() - start
    return {
        "turns": len(represented), "representations": len(set(represented)), **dict(zip(STAGES, values, strict=True)),
        "rest": total - sum(values), "total": total, "cpu": time.process_time() - cpu,
    }  # fmt: skip


def speed_part(bench: Bench) -> Figures:
    """Seconds of each stage with a cold cache, then with the warm one; the bounds are for as many turns as are asked.

    Every run is a process of its own: what the stages keep in memory is no cache that the next command has. Of several
    rounds, each of which begins with no cache, the run with the median of the seconds is told.
    """
    work = bench.state
    asked = gather(work.conversations, bench.folder, bench.size.turns)
    rounds: dict[str, dict[Path | None, list[Figures]]] = {kind: defaultdict(list) for kind in CACHES}
    for number, checkouts in enumerate(versions(bench)):
        for own in rounds.values():
            for checkout in checkouts:
                cache = bench.work / f"speed-{number}-{'own' if checkout is None else 'other'}"
                settings = {**work.overrides, "ers_cache_path": str(cache)}
                own[checkout].append(apart(timed_run, work.config, settings, asked, checkout=checkout).result)
    runs: dict[str, Figures] = {}
    for kind, own in rounds.items():
        for checkout, measured in own.items():
            label = kind if checkout is None else f"{kind}, {checkout.name}"
            runs[label] = sorted(measured, key=lambda row: row["total"])[len(measured) // 2]
            if checkout is not None:
                runs[label]["times"] = times = runs[label]["total"] / runs[kind]["total"]
                if kind in TIMES and not bench.options.quick:
                    bench.want(f"{label}: seconds, times ours", times, TIMES[kind])
        if not bench.options.quick:  # of few turns most of it is loading
            most = CACHES[kind] * runs[kind]["turns"] / FULL
            bench.want(f"{kind} cache: seconds", runs[kind]["total"], most, at_least=False)
    title = f"seconds for {runs['cold']['turns']} turns, {runs['cold']['representations']} different representations"
    columns = {stage: (stage, "{:.1f}") for stage in (*STAGES, "rest", "total", "cpu")} | {
        "times ours": ("times", "{:.2f}")
    }
    bench.compare(title, ("cache",), columns, {(): runs})
    return runs


class Size(NamedTuple):
    groups: int | None = None
    turns: int = FULL


def prepare(bench: Bench) -> Work:
    options = bench.options
    other_version(bench)  # a wrong one shows before anything is built, as does a wrong name
    for module in (load_config(options.config).qu, *MODULES):
        find_module("qu", module, QuestionUnderstanding)
    note(f"knowledge base and pages of wikidata-27k in {bench.kept} ...")
    # the cache is of this run only: older results may be of older code
    overrides = {**build_sources(bench.folder, bench.kept), "ers_cache_path": str(bench.work / "cache")}
    return Work(options.config, overrides, read_conversations(bench.folder, bench.size.groups))


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", default="wikidata-27k.yml", metavar="NAME", help="its stages (default: %(default)s)"
    )
    add_against(parser)


SPEC = Spec(
    "conversations", __doc__,
    {
        "kb": partial(quality_part, sources="kb", name="kb"),
        "all": partial(quality_part, sources=DEFAULT_SOURCES, name="all"),
        "speed": speed_part,
    },
    (Size(1, 10), Size(15, 200), Size()), (1, 1, 3), _options, prepare=prepare,
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
