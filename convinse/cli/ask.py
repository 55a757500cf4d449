"""The command that answers questions given as arguments or on standard input: ask."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..support.errors import DataError
from ..support.limits import LONGEST_LINE
from .arguments import Commands, add_config
from .documents import add_over, configured_over

if TYPE_CHECKING:
    from ..records.conversation import HistoryPart, RankedAnswer, Turn
    from ..records.evidence import Evidence

_BEST_EVIDENCES = 5  # shown of a turn


def add(commands: Commands) -> None:
    """`ask`."""
    sub = commands.add("ask", _ask, "answer one conversation from the command line", "nothing was written")
    sub.add_argument(
        "questions", nargs="*", metavar="QUESTION", help="without one: questions from standard input, one a line"
    )
    add_pipeline(sub)
    sub.add_argument("--json", action="store_true", help="print the conversation as one JSON object")


def add_pipeline(parser: argparse.ArgumentParser) -> None:
    """`--sources`, `--over` and `--config`."""
    parser.add_argument("--sources", default=None, help="such as kb_text (default kb_text_table_info)")
    add_over(parser)
    add_config(parser)


def _ask(options: argparse.Namespace) -> int:
    from ..pipeline import Pipeline
    from ..records.conversation import check_question
    from ..records.evidence import DEFAULT_SOURCES, parse_sources

    sources = parse_sources(options.sources or DEFAULT_SOURCES)
    asked: Iterable[str] = [check_question(question) for question in options.questions]
    with Pipeline(configured_over(options)) as pipeline:
        session = pipeline.session(sources)
        for question in asked or _asked_on_standard_input():
            turn = session.ask(question)
            if not options.json:
                print_turn(turn)
                sys.stdout.flush()  # read while the next turn is computed
        if options.json:
            import msgspec

            sys.stdout.write(msgspec.json.encode(session.conversation).decode() + "\n")
    return 0


def _asked_on_standard_input() -> Iterator[str]:
    if sys.stdin is not None and sys.stdin.isatty():
        print("one question a line; Ctrl-D ends", file=sys.stderr)
    for line in input_lines():
        if line.strip():
            yield line.strip()


def input_lines() -> Iterator[str]:
    """The lines of standard input, each as soon as it is there.

    Raises:
        DataError: it is closed, or no text.
    """
    if sys.stdin is None:
        raise DataError("standard input is closed; give the questions as arguments")
    while True:
        try:
            line = sys.stdin.readline(LONGEST_LINE)
        except UnicodeDecodeError as error:
            raise DataError(f"standard input is no {error.encoding} text") from None
        if not line:
            return
        yield line.removesuffix("\n")


def print_turn(turn: Turn) -> None:
    """A turn of `ask`: question, representation, answers with what supports them, best evidences; those of its parts, too."""
    print(f"\n> {turn['question']}")
    for line in talk_lines(turn):
        print(f"  {line}")
    if not turn["structured_representation"] and not turn["pred_answers"]:
        return
    if "actual_question" in turn:
        print(f"  asked: {turn['actual_question']}")
    print(f"  understood as: {turn['structured_representation'].strip()}")
    used = [shown_part(part) for part in turn.get("history_used", [])]
    if used:
        print(f"  from the history: {'; '.join(used)}")
    answers = turn["pred_answers"]
    if not answers:
        print("  no answer found")
    if "abstained" in turn:
        print(f"  not known: {turn['abstained']['reason']}{'; at best' if answers else ''}")
    for failure in missed(turn):
        print(f"  not looked up: {failure}")
    if answers and "sentence" in turn and "abstained" not in turn:
        print(f"  {turn['confidence']}: {turn['sentence']}")
    for line in shown_contradictions(turn):
        print(f"  {line}")
    for answer in answers[:5]:
        print(f"  {answer['rank']}. {named(answer, turn)}  {answer['score']:.3f}")
        cited = answer.get("evidences", [])[: None if answer is answers[0] else 1]
        for number, place in enumerate(cited, 1):
            evidence = turn["top_evidences"][place]
            mark = f"[{number}] " if answer is answers[0] else ""  # the sentence names it so
            print(f"       {mark}[{evidence['source']}] {evidence['evidence_text']}{in_file(evidence)}")
    if turn["top_evidences"]:
        print("  best evidences:")
    for evidence in turn["top_evidences"][:_BEST_EVIDENCES]:
        print(
            f"    {evidence.get('score', 0.0):6.2f} [{evidence['source']}] {evidence['evidence_text']}{in_file(evidence)}"
        )
    for part in turn.get("parts", []):
        print_turn(part)


def talk_lines(turn: Turn) -> list[str]:
    """The reply to talk, and a question back with its numbered choices."""
    back = turn.get("clarification")
    lines = [turn["sentence"]] if "sentence" in turn and not turn["pred_answers"] and back is None else []
    if back is not None:
        lines.append(back["question"])
        lines += [f"  {number}. {own['label']}: {own['description']}" for number, own in enumerate(back["choices"], 1)]
    return lines


def named(answer: RankedAnswer, turn: Turn) -> str:
    """An answer with its time and its id; what documents speak of has no id that people know."""
    entity, places = answer["answer"], answer.get("evidences", [])
    time = f", {answer['time']}" if "time" in answer else ""
    is_cited = any("citation" in turn["top_evidences"][place] for place in places[:1])
    return f"{entity['label']}{time}" if is_cited else f"{entity['label']}{time} ({entity['id']})"


def shown_contradictions(turn: Turn) -> list[str]:
    """What other sources say in the place of the best answer of a turn."""
    return [
        f"but {own['answer']['label']}: [{evidence['source']}] {evidence['evidence_text']}"
        for own in turn.get("contradiction", [])
        for evidence in [turn["top_evidences"][own["evidence"]]]
    ]


def missed(turn: Turn) -> list[str]:
    """The reasons why look-ups at live sources failed, without repetition."""
    return list(dict.fromkeys(turn["live"]["failures"])) if "live" in turn else []


def in_file(evidence: Evidence) -> str:
    """Where an evidence of a document stands, or one that was fetched, in brackets behind its text; empty for other evidences."""
    from ..records.evidence import shown_citation

    place = shown_citation(evidence)
    return f"  ({place})" if place else ""


def shown_part(part: HistoryPart) -> str:
    """A part of the history that a representation took, with the turn it is from."""
    score = f", {part['score']:.2f}" if "score" in part else ""
    return f"{part['text']} ({part['part']} of turn {part['turn']}{score})"
