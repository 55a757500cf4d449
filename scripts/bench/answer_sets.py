"""Sets of questions that answers are judged by and that nothing was chosen by: the third set, follow-ups, questions over files, written dialogues."""

import json
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from convinse.cli.documents import update_index
from convinse.config import Config, load_config, project_root
from convinse.documents.index import DocumentIndex, settings_over
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.experiment import read_part
from convinse.formats.conversations.benchmark import read_benchmark
from convinse.language.text import fold
from convinse.pipeline import Pipeline
from convinse.records.conversation import Conversation, Turn
from convinse.records.evidence import SOURCES
from convinse.scoring.convqa import evaluate, has_abstained, is_answer
from convinse.scoring.extractive import normalize
from recipes.built_sources import INTRODUCTIONS, SAVED, build_sources
from recipes.referents import questions_behind_others

from .harness import Bench, Figures, note
from .spans import PLAIN, PlainReading
from .timing import timed

# -- questions as people type them, over the embedded data, wikidata-27k and saved pages ---------------------------------

_TO_CHOOSE_BY = ("train", "dev", "natural-dev")
_TO_JUDGE = ("test", "natural", "natural-fresh", "natural-third")
_PAGES: dict[str, tuple[str, str] | None] = {"embedded": None, "w27k": INTRODUCTIONS, "pages": SAVED}
_THIRD_COLUMNS = {
    "conversations": ("conversations", "{}"),
    "right": ("right", "{}"),
    "of": ("num_questions", "{}"),
    "P@1": ("p_at_1", "{:.3f}"),
    "Hit@5": ("h_at_5", "{:.3f}"),
    "presence": ("answer_presence", "{:.3f}"),
    "calibration error": ("calibration_error", "{:.3f}"),
}


def third(bench: Bench) -> Figures:
    """Answer the conversations of `--part natural-third` and of third.json; earlier turns count with their predicted answers.

    The questions over wikidata-27k have the introductions of its items, those over saved pages have these.
    """
    sets: dict[str, list[Conversation]] = {}
    for name in _PAGES:
        config, conversations = _read(bench, name)
        with Pipeline(config, use_gold_answers=False) as pipeline:
            sets[name] = pipeline.run(conversations[: bench.size.limit])
    rows = {name: _figures_of(answered) for name, answered in sets.items()}
    rows["together"] = _figures_of([conversation for answered in sets.values() for conversation in answered])
    bench.compare("questions that nothing was chosen by", ("set",), _THIRD_COLUMNS, {(): rows})
    return rows


def _figures_of(conversations: Sequence[Conversation]) -> Figures:
    """The measures of answered conversations; `right` of `num_questions` have an answer and are answered with it first."""
    measures = evaluate(conversations)
    right = sum(bool(turn.get("p_at_1")) for conversation in conversations for turn in conversation["questions"])
    return {**measures, "conversations": len(conversations), "right": right}


def _read(bench: Bench, name: str) -> tuple[Config, list[Conversation]]:
    pages = _PAGES[name]
    if pages is None:
        config = load_config("config.yml", ers_use_cache=False)
        return config, read_part(config, "natural-third")
    note(f"knowledge base and pages of {name} in {bench.cache} ...")
    keys = build_sources(bench.folder, bench.cache, pages, "snapshot:model")
    conversations = read_benchmark(Path(__file__).with_name("third.json"), "convmix")
    return load_config("wikidata-27k.yml", **keys, ers_use_cache=False), [
        conversation for conversation in conversations if f"-{name}-" in conversation["conv_id"]
    ]


# -- conversations whose later turns lean on what was said, over the embedded data -----------------------------------------

_FOLLOWUP_COLUMNS = {
    "choose: right": ("choose", "{}"), "of": ("choose_of", "{}"), "in full": ("choose_full", "{}"),
    "judge: right": ("judge", "{}"), "of ": ("judge_of", "{}"), "in full ": ("judge_full", "{}"),
}  # fmt: skip


def followups(bench: Bench) -> Figures:
    """Ask the conversations of followups.json as typed, as a person would, and each question in full alone.

    Readings and thresholds may be chosen on the half `choose`; nothing is chosen on `judge`.
    """
    conversations = read_benchmark(Path(__file__).with_name("followups.json"), "convmix")
    rows: defaultdict[str, Figures] = defaultdict(lambda: defaultdict(int))
    with Pipeline(load_config("config.yml", ers_use_cache=False)) as pipeline:
        for half in ("choose", "judge"):
            chosen = [one["questions"] for one in conversations if f"-{half}-" in one["conv_id"]][: bench.size.limit]
            alone: list[Any] = [[{**turn, "question": turn["completed"]}] for turns in chosen for turn in turns]  # type: ignore[typeddict-item]
            for column, questions in ((half, chosen), (f"{half}_full", alone)):
                for turns in questions:
                    session = pipeline.session(SOURCES)
                    for turn in turns:
                        answers = session.ask(turn["question"])["pred_answers"]
                        later = ["turns after the first"] if turn["turn"] else []
                        for row in ("all", *later, turn["kind"]):
                            rows[row][column] += bool(answers) and is_answer(answers[0]["answer"], turn["answers"])
                            rows[row][f"{half}_of"] += column == half
    bench.compare("conversations whose later turns lean on what was said", ("kind",), _FOLLOWUP_COLUMNS, {(): rows})
    return dict(rows)


_TOPIC_COLUMNS = {
    "questions": ("questions", "{}"), "put otherwise": ("changed", "{}"),
    "right alone": ("alone", "{}"), "right behind others": ("behind", "{}"),
}  # fmt: skip


_TURNS_AFTER = 3  # of a conversation that goes on behind another one, after its first


def topics(bench: Bench) -> Figures:
    """Hold each embedded conversation alone, behind turns of one of its domain, and of one of another: its first turn, and three more.

    The referents of follow-ups learned from first turns of those to choose by: train, dev and natural-dev.
    """
    rows: dict[str, Figures] = {}
    with Pipeline(load_config("config.yml", ers_use_cache=False)) as pipeline:
        for name, parts in (("to choose by", _TO_CHOOSE_BY), ("to judge", _TO_JUDGE)):
            first, later = (
                rows.setdefault(f"{name}, {turns}", dict.fromkeys(("questions", "changed", "alone", "behind"), 0))
                for turns in ("first turns", "later turns")
            )
            sets = (read_part(pipeline.config, part)[: bench.size.limit] for part in parts)
            for conversation, before, _ in chain.from_iterable(map(questions_behind_others, sets)):
                by_itself, behind_others = pipeline.session(SOURCES), pipeline.session(SOURCES)
                for earlier in before:
                    behind_others.ask(earlier["question"])
                for place, turn in enumerate(conversation["questions"][: 1 + _TURNS_AFTER]):
                    alone, behind = (session.ask(turn["question"]) for session in (by_itself, behind_others))
                    row = later if place else first
                    row["questions"] += 1
                    row["changed"] += alone["structured_representation"] != behind["structured_representation"]
                    row["alone"] += _is_right(alone, turn)
                    row["behind"] += _is_right(behind, turn)
    bench.compare("conversations behind another topic", ("sets",), _TOPIC_COLUMNS, {(): rows})
    return rows


def _is_right(answered: Turn, turn: Turn) -> bool:
    answers = answered["pred_answers"]
    return bool(answers) and is_answer(answers[0]["answer"], turn["answers"])


# -- values, and what is not there --------------------------------------------------------------------------------------

_VALUE_COLUMNS = {
    "questions": ("questions", "{}"),
    "right": ("right", "{}"),
    "abstained": ("abstained", "{}"),
    "right, abstained": ("right_abstained", "{}"),
    "above .7": ("above_70", "{}"),
    "wrong above .7": ("wrong_above_70", "{}"),
    "above .9": ("above_90", "{}"),
    "wrong above .9": ("wrong_above_90", "{}"),
}


def values(bench: Bench) -> Figures:
    """Put the questions of values.json over the embedded data, each by itself: comparisons, times, ages, counts, what no fact says.

    The half `choose` was there to choose by. "right": the first answer is right, whether or not it is a suggestion.
    """
    conversations = read_benchmark(Path(__file__).with_name("values.json"), "convmix")
    with Pipeline(load_config("config.yml", ers_use_cache=False), use_gold_answers=False) as pipeline:
        answered = pipeline.run(conversations[: bench.size.limit])
    groups: defaultdict[tuple[str, str], list[Turn]] = defaultdict(list)
    for conversation in answered:
        for turn in conversation["questions"]:
            groups[str(conversation["part"]), turn["kind"]].append(turn)
    rows = {group: _value_figures(turns) for group, turns in groups.items()}
    bench.compare("questions for values, and without an answer", ("half", "kind"), _VALUE_COLUMNS, {(): rows})
    return {", ".join(group): figures for group, figures in rows.items()}


def _value_figures(turns: Sequence[Turn]) -> Figures:
    right = [turn for turn in turns if turn.get("p_at_1")]
    return {
        "questions": len(turns),
        "right": len(right) if turns[0]["answers"] else None,
        "abstained": sum(map(has_abstained, turns)),
        "right_abstained": sum(map(has_abstained, right)),
        **_sureness(turns),
    }


def _sureness(turns: Sequence[Turn]) -> Figures:
    """How many first answers that are not held back are above a probability, and how many of these are wrong."""
    answered = [turn for turn in turns if turn["pred_answers"] and not has_abstained(turn)]
    figures: Figures = {}
    for percent in (70, 90):
        sure = [turn for turn in answered if turn["pred_answers"][0]["score"] > percent / 100]
        figures[f"above_{percent}"] = len(sure)
        figures[f"wrong_above_{percent}"] = sum(not turn.get("p_at_1") for turn in sure)
    return figures


_SURE_COLUMNS = {name: _VALUE_COLUMNS[name] for name in ("questions", *list(_VALUE_COLUMNS)[-4:])}
_UNSEEN = ("natural", "natural-fresh", "natural-third")


def reliability(bench: Bench) -> Figures:
    """Count by kind how often a sure answer to the natural questions to report on is wrong; earlier turns count as predicted."""
    kinds: defaultdict[str, list[Turn]] = defaultdict(list)
    config = load_config("config.yml", ers_use_cache=False)
    with Pipeline(config, use_gold_answers=False) as pipeline:
        for part in _UNSEEN:
            for conversation in pipeline.run(read_part(config, part)[: bench.size.limit]):
                for turn in conversation["questions"]:
                    kinds[turn["kind"]].append(turn)
                    kinds["all"].append(turn)
    rows = {kind: {"questions": len(turns), **_sureness(turns)} for kind, turns in sorted(kinds.items())}
    bench.compare("how often a sure answer is wrong, by kind", ("kind",), _SURE_COLUMNS, {(): rows})
    return rows


# -- questions over folders of files ------------------------------------------------------------------------------------

_FILES = project_root() / "tests" / "files"
_FILE_PARTS = ("choose", "judge", "fresh", "lists", "lists-judge")
_FILE_COLUMNS = {
    "answerable": ("answerable", "{}"), "P@1": ("p_at_1", "{:.3f}"), "citation": ("citation", "{:.3f}"),
    "unanswerable": ("unanswerable", "{}"), "abstains": ("abstains", "{:.3f}"), "abstains though answerable": ("abstains_wrongly", "{:.3f}"),
}  # fmt: skip


_BESIDE = {
    **{name: _FILE_COLUMNS[name] for name in ("P@1", "citation", "abstains", "abstains though answerable")},
    "seconds": ("seconds", "{:.2f}"),
}


class _Answered(NamedTuple):
    line: dict[str, Any]  # of files.jsonl
    turn: Turn
    seconds: float

    @property
    def is_right(self) -> bool:
        """Whether the first answer is right; of a question for several whether the answers in front are all of them, and no other."""
        answers = self.turn["pred_answers"]
        if "members" in self.line:
            return self._has_all(self.line["members"])
        accepted = {normalize(answer) for answer in self.line["answers"]}
        return bool(answers) and normalize(answers[0]["answer"]["label"]) in accepted

    def _has_all(self, members: Sequence[Sequence[str]]) -> bool:
        answers = self.turn["pred_answers"]
        listed = [answer for answer in answers if answer.get("list")] or answers[:1]
        found = [normalize(answer["answer"]["label"]) for answer in listed]
        if len(found) == 1 and len(members) > 1:  # in the words of one evidence: "fire, storm and hail"
            found = [normalize(part) for part in re.split(r",| and ", listed[0]["answer"]["label"]) if part.strip()]
        accepted = [{normalize(form) for form in forms} for forms in members]
        return len(found) == len(accepted) and all(any(name in forms for name in found) for forms in accepted)

    @property
    def is_cited(self) -> bool:
        place = next(iter(self.turn["pred_answers"][0].get("evidences", ())), None)
        file = "" if place is None else self.turn["top_evidences"][place]["citation"]["file"]
        return file.rpartition("/")[2] in self.line.get("file", file)


def documents(bench: Bench) -> Figures:
    """Ask the questions of tests/files, those of each collection by themselves, each with those that come before it.

    Thresholds may be chosen on the parts `choose` and `lists`; nothing is chosen on `judge`, `lists-judge` and `fresh`. Two thirds of the
    questions of the lists ask for several things, a number or a sum: all members and no other are right. "citation": of the right answers, those whose
    first evidence is of a file that has it. "abstains": of the questions that the files do not answer. The baseline answers each by itself.
    """
    lines = [json.loads(line) for line in _FILES.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]
    by_id = {line["id"]: line for line in lines}
    followed = {line["after"] for line in lines if "after" in line}
    ours: defaultdict[str, list[_Answered]] = defaultdict(list)
    plain: defaultdict[str, list[_Answered]] = defaultdict(list)
    collections = yaml.safe_load((_FILES / "collections.yml").read_text(encoding="utf-8"))
    for name, paths in collections.items():
        folder = bench.cache / name
        update_index(folder, [project_root() / path for path in paths], "snapshot:model", quiet=True)
        config = load_config("config.yml", **settings_over(folder), ers_use_cache=False)
        with Pipeline(config) as pipeline, closing(DocumentIndex(folder)) as index:
            baseline = PlainReading(index, ExtractiveReader(config))
            for line in lines:
                if line["collection"] == name and line["id"] not in followed:
                    session = pipeline.session(SOURCES)
                    for one in [by_id[line["after"]], line] if "after" in line else [line]:
                        for system, ask in ((ours, session.ask), (plain, baseline.ask)):
                            seconds, turn = timed(partial(ask, one["question"]))
                            system[name].append(_Answered(one, turn, seconds))
    rows = _file_rows(ours)
    beside = _file_rows(plain)
    bench.compare("questions over files", ("set",), _FILE_COLUMNS, {(): rows})
    parts = {part: {"config.yml": rows[part], PLAIN: beside[part]} for part in (*_FILE_PARTS, "together")}
    bench.compare("questions over files, beside a baseline", ("part", "system"), _BESIDE, parts)
    return {**rows, PLAIN: beside}


def _file_rows(answered: Mapping[str, list[_Answered]]) -> dict[str, Figures]:
    """The measures by collection, by part and together."""
    together = [one for of_collection in answered.values() for one in of_collection]
    parts = {part: [one for one in together if one.line["part"] == part] for part in _FILE_PARTS}
    return {name: _file_figures(chosen) for name, chosen in {**answered, **parts, "together": together}.items()}


def _file_figures(answered: Sequence[_Answered]) -> Figures:
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
        "seconds": statistics.median(one.seconds for one in answered),
    }


# -- written dialogues --------------------------------------------------------------------------------------------------

_DIALOGUE_COLUMNS = {
    "dialogues": ("dialogues", "{}"),
    "turns": ("turns", "{}"),
    "right": ("right", "{:.3f}"),
    "talk right": ("talk_right", "{:.3f}"),
    "answers right": ("answers_right", "{:.3f}"),
}


class WrittenTurn(NamedTuple):
    """What is said, and its right treatment; `tests/dialogues.txt` has the forms."""

    utterance: str
    treatment: str


def _dialogues() -> Iterator[tuple[str, list[WrittenTurn]]]:
    """The half and the turns of each dialogue."""
    text = (project_root() / "tests" / "dialogues.txt").read_text(encoding="utf-8")
    for block in re.split(r"(?m)^= ", text)[1:]:
        half, *lines = block.strip().splitlines()
        yield half, [WrittenTurn(*line.split(" -> ")) for line in lines if line.strip()]


def _is_treated(turn: Turn, treatment: str) -> bool:
    """Whether a turn was treated so."""
    if " + " in treatment:
        parts = [turn, *turn.get("parts", [])]
        treatments = treatment.split(" + ")
        return len(parts) == len(treatments) and all(map(_is_treated, parts, treatments))
    return any(_is(turn, choice.strip()) for choice in treatment.split(" | "))


def _is(turn: Turn, treatment: str) -> bool:
    if treatment == "ask":
        return "clarification" in turn
    if treatment == "unknown":
        return "abstained" in turn or not (turn["pred_answers"] or "act" in turn or "clarification" in turn)
    if treatment.startswith("act "):
        return turn.get("act") == treatment.removeprefix("act ")
    best = [answer["answer"]["label"] for answer in turn["pred_answers"][:1]]
    return bool(best) and f" {fold(treatment)} " in f" {fold(best[0])} "


def dialogues(bench: Bench) -> Figures:
    """Dialogues with talk, corrections and questions back; `choose` and `typed` were there to choose by, `judge` to report."""
    figures: dict[str, Figures] = {}
    done: list[tuple[str, WrittenTurn, Turn]] = []
    with Pipeline(load_config("config.yml")) as pipeline:
        counts: defaultdict[str, int] = defaultdict(int)
        for half, turns in _dialogues():
            counts[half] += 1
            session = pipeline.session(SOURCES)
            done += [(half, turn, session.ask(turn.utterance)) for turn in turns]
    for half, count in counts.items():
        right = [(case.treatment, _is_treated(turn, case.treatment)) for part, case, turn in done if part == half]
        talk = [is_answered for treatment, is_answered in right if treatment.startswith(("act", "ask"))]
        answers = [is_answered for treatment, is_answered in right if not treatment.startswith(("act", "ask"))]
        figures[half] = {
            "dialogues": count,
            "turns": len(right),
            "right": sum(is_answered for _, is_answered in right) / len(right),
            "talk_right": sum(talk) / len(talk) if talk else None,
            "answers_right": sum(answers) / len(answers),
        }
    bench.compare("written dialogues", ("half",), _DIALOGUE_COLUMNS, {(): figures})
    return figures
