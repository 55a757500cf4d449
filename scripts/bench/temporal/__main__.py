"""Temporal questions over wikidata-27k with its dated statements: how well TimeQuestions (dev) and TIQ (dev) are answered from facts.

    bash run.sh bench temporal
    bash run.sh bench temporal --full
    bash run.sh bench temporal --config my.yml --work DIR

Only questions whose answer is in their space are asked, which `questions.py` defines: by default at most 400 of a data set, drawn
with a fixed seed, with --full all. The configuration and lexical.yml answer them from evidences of `kb`, each as a command of its
own. Gold texts count as the date or the number that they hold, a bare year as any date in it. To rank and to read the embedded
model has learned from questions of TimeQuestions; "held out" are those about items that it kept for its dev part.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import yaml

from convinse.config import find_config, load_config
from convinse.formats.run_folder import TURNS
from convinse.records.conversation import Turn
from convinse.scoring.pipeline_runs import measured_turns
from convinse.support.files import replacing
from recipes.embedded.wikidata import knowledge_base

from ..conversations.turns import HIT, place_of_gold, rank_of_gold
from ..harness import Bench, Figures, Spec, note, run
from ..measures import Rank, mean_reciprocal_rank, share_within
from ..processes import command
from .questions import SETS, TimedQuestion, TimedSet, read_sets

LEXICAL = "lexical.yml"
SHOWN = 10  # evidences of a failed question
COLUMNS = {
    "questions": ("questions", "{}"), "presence": ("answer_presence", "{:.1%}"), "P@1": ("p_at_1", "{:.1%}"),
    "MRR": ("mrr", "{:.1%}"), "Hit@5": ("h_at_5", "{:.1%}"),
}  # fmt: skip


class TimedAnswer(NamedTuple):
    """What came of a question: the ranks of the first right answer, and of the first evidence that holds one."""

    rank: Rank
    place: Rank

    @property
    def is_right(self) -> bool:
        """Whether the first answer is right."""
        return self.rank == 1


Answers = dict[str, TimedAnswer]  # question id -> what came of it


def answer(bench: Bench, config: str, number: int, kb: Path, questions: Path) -> dict[str, Turn]:
    """The answered turns of a configuration, by question."""
    folder = bench.work / f"system-{number}"
    folder.mkdir()
    keys = {
        **yaml.safe_load(find_config(config).read_text(encoding="utf-8")),
        "name": "temporal", "benchmark": "convmix", "test_input_path": str(questions), "kb_path": str(kb),
        "ers_wikipedia_dump": None, "output_path": "results", "ers_cache_path": "cache",
    }  # fmt: skip
    (folder / "temporal.yml").write_text(yaml.safe_dump(keys), encoding="utf-8")
    note(f"{config} ...")
    command(["pipeline", "kb", "temporal.yml", "--quiet"], folder)
    turns = measured_turns(folder / "results" / "temporal" / "kb" / TURNS)
    return {measured.question_id: measured.turn for measured in turns}


def figures(answered: Sequence[TimedAnswer]) -> Figures:
    """Means over questions."""
    ranks = [result.rank for result in answered]
    return {
        "questions": len(answered),
        "answer_presence": sum(result.place is not None for result in answered) / max(1, len(answered)),
        "p_at_1": share_within(ranks, 1), "mrr": mean_reciprocal_rank(ranks), "h_at_5": share_within(ranks, HIT),
    }  # fmt: skip


def summary(questions: Sequence[TimedQuestion], answered: dict[str, Answers]) -> dict[str, Figures]:
    """The figures of each configuration over some questions."""
    return {config: figures([own[question.question_id] for question in questions]) for config, own in answered.items()}


def failure(question: TimedQuestion, turn: Turn, result: TimedAnswer) -> Figures:
    """What there is to read of a question that is not answered rightly."""
    texts = [evidence["evidence_text"] for evidence in turn["top_evidences"]]
    return {
        **question._asdict(), "answer_rank": result.rank, "evidence_rank": result.place,
        "representation": turn["structured_representation"], "answers": turn["pred_answers"][:HIT],
        "evidences": texts[:SHOWN], "evidence_of_gold": texts[result.place - 1] if result.place else None,
    }  # fmt: skip


def temporal(bench: Bench) -> Figures:
    """All systems over the questions of both data sets."""
    options = bench.options
    with closing(knowledge_base(bench.folder, bench.kept, dated=True)) as kb:
        note("looking for questions whose answer is in their space ...")
        sets = read_sets(bench.folder, kb, *bench.size)
    asked = [question for own in sets.values() for question in own.questions]
    file = bench.work / "questions.json"
    file.write_text(json.dumps([question.conversation for question in asked]), encoding="utf-8")
    answered: dict[str, Answers] = {}
    failed: list[Figures] = []
    for number, config in enumerate(dict.fromkeys((options.config, LEXICAL))):
        turns = answer(bench, config, number, kb.path, file)
        answered[config] = own = {}
        for question in asked:
            turn: Turn = {**turns[question.question_id], "answers": question.gold}
            own[question.question_id] = result = TimedAnswer(rank_of_gold(turn), place_of_gold(turn))
            if config == options.config and not result.is_right:
                failed.append(failure(question, turn, result))
    tables = {name: of_subsets(own.questions, answered) for name, own in sets.items()}
    show(bench, sets, tables)
    readable = options.output.with_name(f"{options.output.stem}-failures.json")
    with replacing(readable) as temporary:
        temporary.write_text(json.dumps(failed, indent=2, ensure_ascii=False), encoding="utf-8")
    print(readable)
    counts = {name: {**own._asdict(), "questions": len(own.questions)} for name, own in sets.items()}
    return {"config": options.config, "sets": counts, "systems": tables}


Tables = dict[str, dict[str, dict[str, Figures]]]  # data set -> subset -> system -> figures


def of_subsets(questions: Sequence[TimedQuestion], answered: dict[str, Answers]) -> dict[str, dict[str, Figures]]:
    """The figures of each subset of the questions of a data set."""
    subsets: dict[str, list[TimedQuestion]] = {"all": [], "held out": []}
    for question in questions:
        for subset in question.subsets:
            subsets.setdefault(subset, []).append(question)
    return {subset: summary(own, answered) for subset, own in subsets.items() if own}


def show(bench: Bench, sets: dict[str, TimedSet], tables: Tables) -> None:
    """Print how many questions there are, then the figures."""
    counts = {
        SETS[name]: {
            "different": own.looked_at,
            "kb": own.gold_in_kb,
            "space": own.in_space,
            "asked": len(own.questions),
        }
        for name, own in sets.items()
    }
    columns = {
        "different": ("different", "{}"), "gold item in the knowledge base": ("kb", "{}"),
        "answer in the space": ("space", "{}"), "asked": ("asked", "{}"),
    }  # fmt: skip
    bench.compare("questions", ("data set",), columns, {(): counts})
    for name, subsets in tables.items():
        title = f"{SETS[name]}, answer in the space, evidences of kb"
        bench.compare(title, ("subset", "system"), COLUMNS, {(subset,): rows for subset, rows in subsets.items()})


def prepare(bench: Bench) -> None:
    load_config(bench.options.config)  # a wrong name shows before anything is built


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config",
        default="wikidata-27k.yml",
        metavar="NAME",
        help="its stages; paths in it are whole (default: %(default)s)",
    )


class Size(NamedTuple):
    """How many questions of a data set are looked at, and asked at the most; None for all."""

    first: int | None = None
    most: int | None = None


SPEC = Spec(
    "temporal", __doc__, {"temporal": temporal}, (Size(100, 20), Size(None, 400), Size()), options=_options, prepare=prepare,
)  # fmt: skip

if __name__ == "__main__":
    run(SPEC)
