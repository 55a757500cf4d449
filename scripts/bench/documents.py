"""Questions over folders of files: pages, the project's own docs, two collections of READMEs and a table.

    bash run.sh bench documents

The questions, and the files that they are about, are those of tests/files. Thresholds may be chosen on the part `choose`; nothing is
chosen on `judge` and `fresh`. "citation": of the right answers, those whose first evidence is of a file that has it. "abstains": of the
questions that the files do not answer.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import yaml

from convinse.cli.documents import update_index
from convinse.config import load_config, project_root
from convinse.documents.index import settings_over
from convinse.pipeline import Pipeline
from convinse.records.conversation import Turn
from convinse.scoring.extractive import normalize

from .harness import Bench, Figures, Spec, run

_FILES = project_root() / "tests" / "files"
_PARTS = ("choose", "judge", "fresh")
_COLUMNS = {
    "answerable": ("answerable", "{}"), "P@1": ("p_at_1", "{:.3f}"), "citation": ("citation", "{:.3f}"),
    "unanswerable": ("unanswerable", "{}"), "abstains": ("abstains", "{:.3f}"), "abstains though answerable": ("abstains_wrongly", "{:.3f}"),
}  # fmt: skip


class _Answered(NamedTuple):
    line: dict[str, Any]  # of questions.jsonl
    turn: Turn

    @property
    def is_right(self) -> bool:
        answers = self.turn["pred_answers"]
        accepted = {normalize(answer) for answer in self.line["answers"]}
        return bool(answers) and normalize(answers[0]["answer"]["label"]) in accepted

    @property
    def is_cited(self) -> bool:
        place = next(iter(self.turn["pred_answers"][0].get("evidences", ())), None)
        file = "" if place is None else self.turn["top_evidences"][place]["citation"]["file"]
        return file.rpartition("/")[2] in self.line["file"]


def questions(bench: Bench) -> Figures:
    """Ask all questions, those of each collection by themselves, each with those that come before it."""
    lines = [json.loads(line) for line in _FILES.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]
    by_id = {line["id"]: line for line in lines}
    followed = {line["after"] for line in lines if "after" in line}
    groups: defaultdict[str, list[_Answered]] = defaultdict(list)
    collections = yaml.safe_load((_FILES / "collections.yml").read_text(encoding="utf-8"))
    for name, paths in collections.items():
        folder = bench.cache / name
        update_index(folder, [project_root() / path for path in paths], "snapshot:model", quiet=True)
        with Pipeline(load_config("config.yml", **settings_over(folder), ers_use_cache=False)) as pipeline:
            for line in lines:
                if line["collection"] == name and line["id"] not in followed:
                    conversation = [by_id[line["after"]], line] if "after" in line else [line]
                    turns = pipeline.ask([one["question"] for one in conversation])["questions"]
                    groups[name] += map(_Answered, conversation, turns)
    together = [one for answered in groups.values() for one in answered]
    groups |= {part: [one for one in together if one.line["part"] == part] for part in _PARTS}
    rows = {name: _measured(answered) for name, answered in {**groups, "together": together}.items()}
    bench.compare("questions over files", ("set",), _COLUMNS, {(): rows})
    return rows


def _measured(answered: Sequence[_Answered]) -> Figures:
    answerable = [one for one in answered if one.line["answers"]]
    unanswerable = [one for one in answered if not one.line["answers"]]
    right = [one for one in answerable if one.is_right]
    return {
        "answerable": len(answerable),
        "p_at_1": len(right) / max(1, len(answerable)),
        "citation": sum(one.is_cited for one in right) / max(1, len(right)),
        "unanswerable": len(unanswerable),
        "abstains": sum("abstained" in one.turn for one in unanswerable) / max(1, len(unanswerable)),
        "abstains_wrongly": sum("abstained" in one.turn for one in right) / max(1, len(right)),
    }


SPEC = Spec("documents", __doc__, {"questions": questions})

if __name__ == "__main__":
    run(SPEC)
