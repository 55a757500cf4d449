"""Questions over folders of files: pages, the project's own docs, two collections of READMEs and a table.

    bash run.sh bench documents
    bash run.sh bench documents --parts questions --show

The questions, and the files that they are asked of, are those of tests/files. Thresholds may be chosen on the part `choose`; nothing is chosen
on `judge`. "citation": of the right answers, those whose first evidence is of a file that has it. "abstains": of the questions that
the files do not answer.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from convinse.cli.documents import update_index
from convinse.config import NO_KB, load_config
from convinse.pipeline import Pipeline
from convinse.records.conversation import Turn
from convinse.scoring.extractive import normalize

from .harness import Bench, Figures, Spec, run

_ROOT = Path(__file__).parents[2]
_FILES = _ROOT / "tests" / "files"
_PARTS = ("choose", "judge")
_MODEL = "snapshot:model"
_COLUMNS = {
    "answerable": ("answerable", "{}"), "P@1": ("p_at_1", "{:.3f}"), "citation": ("citation", "{:.3f}"),
    "unanswerable": ("unanswerable", "{}"), "abstains": ("abstains", "{:.3f}"), "abstains though answerable": ("abstains_wrongly", "{:.3f}"),
}  # fmt: skip


class _Answered(NamedTuple):
    asked: dict[str, Any]  # a line of questions.jsonl
    turn: Turn

    @property
    def is_right(self) -> bool:
        answers = self.turn["pred_answers"]
        accepted = {normalize(own) for own in self.asked["answers"]}
        return bool(answers) and normalize(answers[0]["answer"]["label"]) in accepted

    @property
    def is_cited(self) -> bool:
        place = next(iter(self.turn["pred_answers"][0].get("evidences", ())), None)
        file = "" if place is None else self.turn["top_evidences"][place]["citation"]["file"]
        return file.rpartition("/")[2] in self.asked["file"]


def collections() -> dict[str, list[Path]]:
    """The paths of each collection."""
    named = yaml.safe_load((_FILES / "collections.yml").read_text(encoding="utf-8"))
    return {name: [_ROOT / path for path in paths] for name, paths in named.items()}


def conversations() -> Iterator[list[dict[str, Any]]]:
    """The questions, each with those that were asked before it."""
    lines = [json.loads(line) for line in (_FILES.with_suffix(".jsonl")).read_text(encoding="utf-8").splitlines()]
    by_id = {own["id"]: own for own in lines}
    followed = {own["after"] for own in lines if "after" in own}
    for own in lines:
        if own["id"] not in followed:
            yield [by_id[own["after"]], own] if "after" in own else [own]


def questions(bench: Bench) -> Figures:
    """Ask all questions, each collection by itself."""
    answered: defaultdict[str, list[_Answered]] = defaultdict(list)
    asked = list(conversations())
    for name, paths in collections().items():
        folder = bench.kept / name
        update_index(folder, paths, _MODEL, quiet=True)
        config = load_config("config.yml", kb_path=NO_KB, ers_wikipedia_dump=str(folder), ers_use_cache=False)
        with Pipeline(config) as pipeline:
            for conversation in asked:
                if conversation[0]["collection"] == name:
                    turns = pipeline.ask([own["question"] for own in conversation])["questions"]
                    answered[name] += map(_Answered, conversation, turns)
    if bench.options.show:
        _show([own for all_own in answered.values() for own in all_own])
    groups: dict[str, list[_Answered]] = dict(answered)
    every = [own for all_own in answered.values() for own in all_own]
    groups |= {part: [own for own in every if own.asked["part"] == part] for part in _PARTS} | {"together": every}
    rows = {name: _measured(own) for name, own in groups.items()}
    bench.compare("questions over files", ("set",), _COLUMNS, {(): rows})
    return rows


def _measured(answered: Sequence[_Answered]) -> Figures:
    answerable = [own for own in answered if own.asked["answers"]]
    unanswerable = [own for own in answered if not own.asked["answers"]]
    right = [own for own in answerable if own.is_right]
    return {
        "answerable": len(answerable),
        "p_at_1": len(right) / max(1, len(answerable)),
        "citation": sum(own.is_cited for own in right) / max(1, len(right)),
        "unanswerable": len(unanswerable),
        "abstains": sum("abstained" in own.turn for own in unanswerable) / max(1, len(unanswerable)),
        "abstains_wrongly": sum("abstained" in own.turn for own in right) / max(1, len(right)),
    }


def _show(answered: Sequence[_Answered]) -> None:
    for own in answered:
        answers = own.turn["pred_answers"]
        best = f"{answers[0]['answer']['label']} ({answers[0]['score']:.2f})" if answers else "-"
        mark = "right" if own.is_right else "wrong" if own.asked["answers"] else "none"
        print(
            f"{own.asked['id']:12} {mark:6} {'abstains' if 'abstained' in own.turn else '':9} {own.asked['question']}"
        )
        print(f"{'':20} {best} | {own.asked['answers']} | {own.turn.get('resolved_question')}")
        held = [
            place
            for place, evidence in enumerate(own.turn["top_evidences"])
            if any(one in evidence["evidence_text"] for one in own.asked["answers"])
        ]
        print(
            f"{'':20} held at {held[:5]} of {len(own.turn['top_evidences'])}; about {[e['label'] for e in own.turn['representation']['entities']]}"
        )
        for place in (answers[0].get("evidences", ()) if answers else ())[:1]:
            print(f"{'':20} {own.turn['top_evidences'][place]['evidence_text'][:200]}")


SPEC = Spec(
    "documents",
    __doc__,
    {"questions": questions},
    options={"--show": {"action": "store_true", "help": "print the answers, too"}},
)

if __name__ == "__main__":
    run(SPEC)
