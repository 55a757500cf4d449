"""The command that answers questions given as arguments or on standard input: ask."""

from __future__ import annotations

import argparse
import logging
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from ..support.errors import ConfigError, DataError
from ..support.limits import LONGEST_LINE
from .arguments import Commands, add_config, positive
from .documents import add_over, configured_over, files_over
from .output import print_json, say_next
from .tables import say

if TYPE_CHECKING:
    from ..config import Config
    from ..pipeline import Pipeline
    from ..records.conversation import HistoryPart, RankedAnswer, Turn
    from ..records.evidence import Evidence

LOGGER = logging.getLogger(__name__)
_ANSWERS, _FURTHER = 5, 5  # answers, and evidences besides theirs, that are shown of a turn
_LISTED = 20  # members of a list that are shown
_LEAST_PROBABLE = 0.01  # of an answer that is shown behind the best one
_PATH_STARTS = ("./", "../", "/", "~")  # an argument that begins so is a path, even of a missing file
LEAVING = {"exit", "quit", "/exit", "/quit"}


def add(commands: Commands) -> None:
    """Add `ask`."""
    sub = commands.add("ask", _ask, "answer one conversation from the command line", "nothing was written")
    sub.add_argument(
        "questions", nargs="*", metavar="PATH|QUESTION",
        help="files and folders that come first are asked about, as by --over; without a question: questions from "
        "standard input, one a line",
    )  # fmt: skip
    add_pipeline(sub)
    sub.add_argument("--json", action="store_true", help="print the conversation as one JSON object")
    sub.add_argument(
        "--proof", metavar="FILE",
        help="with --over: write what each answer rests on to FILE, which verify compares with the files later",
    )  # fmt: skip
    sub.add_argument(
        "--top", type=positive, metavar="N",
        help="the N best answers, however improbable (default: 5 at most, of 1 %% or more)",
    )  # fmt: skip
    # argparse leaves the arguments behind an option in the middle, as in: ask PATH --json QUESTION
    sub.set_defaults(takes_more=True)


def add_pipeline(parser: argparse.ArgumentParser) -> None:
    """Add `--sources`, `--over` and `--config`."""
    parser.add_argument("--sources", default=None, help="such as kb_text (default kb_text_table_info)")
    add_over(parser)
    add_config(parser)


@contextmanager
def opened_pipeline(config: Config) -> Iterator[Pipeline]:
    """Yield the pipeline of a configuration; it is closed when the block ends."""
    from ..encoder.pool import ModelPool

    # before the other imports: the models open meanwhile, which is a third of the time of a question alone
    models = ModelPool()
    models.open_ahead(config)
    from ..pipeline import Pipeline
    from ..resources import Resources

    with Resources(config, models=models) as resources, Pipeline(config, resources=resources) as pipeline:
        yield pipeline


def _ask(options: argparse.Namespace) -> int:
    from ..records.conversation import check_question
    from ..records.evidence import DEFAULT_SOURCES, parse_sources

    if any(argument.startswith("-") for argument in options.rest):
        options.usage_error(f"unrecognized arguments: {' '.join(options.rest)}")
    sources = parse_sources(options.sources or DEFAULT_SOURCES)
    arguments = [*options.questions, *options.rest]
    paths = [] if options.over else list(takewhile(_is_path, arguments))
    options.over = options.over or paths
    questions: Iterable[str] = [check_question(question) for question in arguments[len(paths) :]]
    if paths and not questions:
        LOGGER.info("%s: asked about; the questions are read from standard input, one a line", ", ".join(paths))
    proof = _proof_output(options)
    with opened_pipeline(configured_over(options)) as pipeline:
        session = pipeline.session(sources)
        for question in questions or _asked_on_standard_input(pipeline):
            turn = session.ask(question)
            if not options.json:
                print_turn(turn, options.top)
                sys.stdout.flush()  # read while the next turn is computed
        conversation, index = session.conversation, pipeline.resources.documents
        if index is not None and (options.json or proof is not None):
            from ..documents.quotes import add_boxes

            turns = conversation["questions"]
            add_boxes((part for turn in turns for part in (turn, *turn.get("parts", ()))), index, files_over(options))
        if options.json:
            print_json(conversation)
        if proof is not None:
            from ..documents.proof import proof_of, write_proof

            write_proof(proof, proof_of(conversation, files_over(options), sources))
            say_next(f"verify {shlex.quote(str(proof))}")
    return 0


def _proof_output(options: argparse.Namespace) -> Path | None:
    """Return the path of `--proof`, checked before a question is answered."""
    if options.proof is None:
        return None
    from ..documents.proof import check_output

    if not options.over:
        raise ConfigError("--proof belongs to --over PATH; give that, too")
    if not files_over(options):
        raise ConfigError(
            f"--over {options.over[0]}: an index does not say where its files are; name the files for --proof"
        )
    path = Path(options.proof).expanduser()
    check_output(path)
    return path


def _is_path(argument: str) -> bool:
    # a question may be too long for the name of a file, which Path.exists does not take
    return argument.startswith(_PATH_STARTS) or os.path.exists(argument)  # noqa: PTH110


def _asked_on_standard_input(pipeline: Pipeline) -> Iterator[str]:
    is_typed = sys.stdin is not None and sys.stdin.isatty()
    if is_typed:
        print(f"{greeting(pipeline)} One question a line; /exit or Ctrl-D ends.", file=sys.stderr)
    for line in map(str.strip, input_lines()):
        if is_typed and line.lower() in LEAVING:
            return
        if line:
            yield line


def greeting(pipeline: Pipeline) -> str:
    """Return a sentence on how much is known."""
    from ..dialogue.examples import data_counts

    counts = data_counts(pipeline.resources)
    counted = ", ".join(f"{number:,} {name}" for name, number in counts.items() if number)
    return f"Ask about {counted or 'what Wikidata and Wikipedia know now'}."


def input_lines() -> Iterator[str]:
    """Yield the lines of standard input, each as soon as it is there.

    Raises:
        DataError: it is closed, or no text.
    """
    if sys.stdin is None:
        raise DataError("standard input is closed; give the questions as arguments")
    while True:
        try:
            line = sys.stdin.readline(LONGEST_LINE)
        except UnicodeDecodeError as error:
            raise DataError(f"standard input is not {error.encoding} text") from None
        if not line:
            return
        yield line.removesuffix("\n")


def print_turn(turn: Turn, top: int | None = None) -> None:
    """Print a turn and its parts: question, representation, answers with their evidences, further evidences; none twice."""
    from ..records.conversation import read_differently

    print()
    say(f"> {turn['question']}", "bold")
    for line in talk_lines(turn):
        say(line, indent=2)
    if not turn["structured_representation"] and not turn["pred_answers"]:
        return
    if "actual_question" in turn:
        say(f"asked: {turn['actual_question']}", "bright_black", indent=2)
    if full := read_differently(turn):
        say(f"understood as: {full}", "bright_black", indent=2)
    for step in turn.get("steps", []):
        if "answer" in step and step["question"]:
            say(f"first: {step['text']}: {step['answer']['label']}", "bright_black", indent=2)
    used = [shown_part(part) for part in turn.get("history_used", [])]
    if used:
        say(f"from the history: {'; '.join(used)}", "bright_black", indent=2)
    answers = shown_answers(turn, top)
    if not answers:
        say("no answer found", "yellow", indent=2)
    if "abstained" in turn:
        say(f"not known: {turn['abstained']['reason']}{'; at best' if answers else ''}", "yellow", indent=2)
    for failure in missed(turn):
        say(f"not looked up: {failure}", "yellow", indent=2)
    if answers and "confidence" in turn and "abstained" not in turn:
        say(f"{turn['confidence']}: {turn.get('sentence') or answered(turn)}", "green", indent=2)
    waiting = {evidence_line(evidence): evidence.get("score", 0.0) for evidence in turn["top_evidences"]}
    for answer in answers:
        label = f"{answer['rank']}. {named(answer, turn)}  {answer['score']:.3f}"
        say(label, "" if answer["rank"] > 1 else "bold", indent=2, grey=f"({answer['answer']['id']})")
        cited = answer.get("evidences", [])[: None if answer is answers[0] else 1]
        for number, place in enumerate(cited, 1):
            line = evidence_line(turn["top_evidences"][place])
            if waiting.pop(line, None) is not None:
                mark = f"[{number}] " if answer is answers[0] else ""  # the sentence names it so
                say(f"{mark}{line}", indent=7)
    unlisted = sum(answer.get("list", False) for answer in turn["pred_answers"][len(answers) :])
    if unlisted and top is None and "extent" in turn:
        say(f"and {unlisted:,} more: --top {len(answers) + unlisted}", indent=2)
    if waiting:
        say("further evidences:", indent=2)
    for line, score in list(waiting.items())[:_FURTHER]:
        say(f"{score:6.2f} {line}", "bright_black", indent=4)
    for part in turn.get("parts", []):
        print_turn(part, top)


def shown_answers(turn: Turn, top: int | None = None) -> list[RankedAnswer]:
    """Return the best `top` answers of a turn; by default those of a list, or the first and up to four more of at least 1 %."""
    answers = turn["pred_answers"]
    if top is not None:
        return answers[:top]
    listed = [answer for answer in answers if answer.get("list")]
    if "extent" in turn and listed:
        return listed[:_LISTED]
    return [
        answer for place, answer in enumerate(answers[:_ANSWERS]) if place == 0 or answer["score"] >= _LEAST_PROBABLE
    ]


def evidence_line(evidence: Evidence) -> str:
    """Return an evidence with its source, and in brackets its place in a document or its address."""
    from ..records.evidence import shown_citation

    place = shown_citation(evidence)
    return f"[{evidence['source']}] {evidence['evidence_text']}{f'  ({place})' if place else ''}"


def talk_lines(turn: Turn) -> list[str]:
    """Return the reply to talk, and a clarification question with its numbered choices."""
    back = turn.get("clarification")
    lines = [turn["sentence"]] if "sentence" in turn and not turn["pred_answers"] and back is None else []
    if back is not None:
        lines.append(back["question"])
        lines += [
            f"  {number}. {choice['label']}: {choice['description']}"
            for number, choice in enumerate(back["choices"], 1)
        ]
    return lines


def named(answer: RankedAnswer, turn: Turn) -> str:
    """Return an answer with its time and its id; entities of documents have no id that people know."""
    entity, places = answer["answer"], answer.get("evidences", [])
    time = f", {answer['time']}" if "time" in answer else ""
    is_cited = any("citation" in turn["top_evidences"][place] for place in places[:1])
    return f"{entity['label']}{time}" if is_cited else f"{entity['label']}{time} ({entity['id']})"


def answered(turn: Turn) -> str:
    """Return the best answer of a turn, or all answers of a list, without a sentence."""
    answers = turn["pred_answers"]
    shown = [answer for answer in answers if answer.get("list")] or answers[:1]
    return ", ".join(answer["answer"]["label"] for answer in shown)


def missed(turn: Turn) -> list[str]:
    """Return the reasons why look-ups at live sources failed, without repetition."""
    return list(dict.fromkeys(turn["live"]["failures"])) if "live" in turn else []


def shown_part(part: HistoryPart) -> str:
    """Return a part of the history that a representation uses, with its turn."""
    score = f", {part['score']:.2f}" if "score" in part else ""
    return f"{part['text']} ({part['part']} of turn {part['turn']}{score})"
