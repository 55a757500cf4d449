"""The command that holds a conversation in the terminal: chat."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..support.errors import ConvinseError, DataError, OutputError, nearest, one_line
from .arguments import Commands
from .ask import (
    LEAVING,
    add_pipeline,
    evidence_line,
    greeting,
    input_lines,
    missed,
    named,
    opened_pipeline,
    shown_answers,
    shown_part,
    talk_lines,
)
from .documents import files_over, watched_over
from .output import program
from .tables import console, say

if TYPE_CHECKING:
    from ..pipeline import Pipeline
    from ..records.conversation import Conversation, RankedAnswer, Turn
    from ..records.evidence import Entity, QuoteSpan

_SUPPORT = 3  # evidences shown of the answer
_SHOWN = 5  # evidences of a turn that is explained
_DONE = {"qu": "looking for evidences", "ers": "looking for the answer", "ha": "done"}


def add(commands: Commands) -> None:
    """Add `chat`."""
    sub = commands.add("chat", _chat, "a conversation in the terminal; /help lists what it knows", "nothing was saved")
    sub.add_argument("conversation", nargs="?", metavar="FILE", help="go on with a conversation that /save wrote")
    add_pipeline(sub)


def _chat(options: argparse.Namespace) -> int:
    from ..formats.convmix import read_records
    from ..records.evidence import DEFAULT_SOURCES, parse_sources

    sources = parse_sources(options.sources or DEFAULT_SOURCES)
    path, conversation = None, None
    if options.conversation is not None:
        path = Path(options.conversation)
        conversation = read_records(path)
    with watched_over(options) as config, opened_pipeline(config) as pipeline:
        try:
            chat = Chat(pipeline, sources, conversation, path, files_over(options))
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
        is_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
        if is_terminal and not options.quiet:
            say(f"{greeting(pipeline)} /help lists the commands; /exit or Ctrl-D ends.", "bright_black")
        lines = input_lines()
        chat.run(prompt(chat.questions) if is_terminal else lambda: next(lines))
    return 0


def prompt(questions: list[str]) -> Callable[[], str]:
    """Return a reader of lines in the terminal, with editing and a history that begins with these questions."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.history import InMemoryHistory

    names = WordCompleter(list(Chat.COMMANDS), sentence=True)
    session: PromptSession[str] = PromptSession(
        "> ", history=InMemoryHistory(questions), completer=names, complete_while_typing=False
    )
    return session.prompt


class Chat:
    """A conversation in the terminal, new or taken up; `/save` without a name writes to `path`.

    A saved conversation over files names the paths `over` which they were asked, so that `verify` finds the files again.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        sources: tuple[str, ...],
        conversation: Conversation | None = None,
        path: Path | None = None,
        over: Sequence[Path] = (),
    ) -> None:
        self._pipeline, self._path, self._over = pipeline, path, over
        self._session = pipeline.session(sources, conversation)
        self._console = console()

    @property
    def questions(self) -> list[str]:
        """The questions so far."""
        return [turn["question"] for turn in self._session.conversation["questions"]]

    @property
    def _answered(self) -> list[Turn]:
        return [turn for turn in self._session.conversation["questions"] if turn["structured_representation"]]

    def run(self, read: Callable[[], str]) -> None:
        """Take lines until `exit` or `quit`, or until `read` raises `EOFError` or `StopIteration`.

        Ctrl-C empties the line or stops the answer.
        """
        while True:
            try:
                line = read().strip()
            except (EOFError, StopIteration):
                return
            except KeyboardInterrupt:
                continue
            if line.lower() in LEAVING:
                return
            try:
                self.take(line)
            except KeyboardInterrupt:
                say("stopped; the conversation is as it was before", "yellow")
            except ConvinseError as error:
                say(one_line(error), "red")

    def take(self, line: str) -> None:
        """Answer a question, or run a command."""
        if not line.startswith("/"):
            with self._console.status("understanding the question") as status:
                turn = self._session.ask(line, lambda stage, _: status.update(_DONE[stage]))
            for part in (turn, *turn.get("parts", [])):
                if "parts" in turn:
                    say(part.get("actual_question", part["question"]))
                self._show(part)
            return
        name, _, argument = line.partition(" ")
        if name not in self.COMMANDS:
            raise DataError(f"no command {name}: {nearest(name, list(self.COMMANDS))} (/help says what they do)")
        shown, _, command = self.COMMANDS[name]
        if argument and not shown:
            raise DataError(f"{name} stands alone; it takes no '{argument.strip()}'")
        command(self, argument.strip())

    # -- what is asked -------------------------------------------------------------------------------------------------

    def _show(self, turn: Turn) -> None:
        answers = turn["pred_answers"]
        if lines := talk_lines(turn):
            for line in lines:
                say(line, "bold green")
            if not answers:
                return
        if "abstained" in turn:
            say(f"not known: {turn['abstained']['reason']}", "yellow")
        elif not answers:
            say("no answer found", "yellow")
        for failure in missed(turn):
            say(f"not looked up: {failure}", "yellow")
        if answers:
            before = "at best: " if "abstained" in turn else ""
            sure = "" if before or "confidence" not in turn else f", {turn['confidence']}"
            text = f"{before}{_shown_answer(answers[0], turn)}{sure}"
            say(text, "" if before else "bold green", grey=f"({answers[0]['answer']['id']})")
            if not before and "sentence" in turn:
                say(turn["sentence"])
            for number, place in enumerate(answers[0].get("evidences", [])[:_SUPPORT], 1):
                say(f"[{number}] {evidence_line(turn['top_evidences'][place])}", indent=2)
        if turn.get("follow_ups"):
            say(f"next: {' '.join(turn['follow_ups'])}", "bright_black")

    def _why(self, _: str) -> None:
        turns = self._answered
        if not turns:
            raise DataError("nothing was asked yet")
        from ..records.conversation import read_differently

        turn = turns[-1]
        say(f"understood as: {turn['structured_representation'].strip()}")
        if "representation" in turn:
            fields = turn["representation"]
            _pair("about", _shown_entities(fields["entities"]))
            _pair("in the context of", _shown_entities(fields["context"]))
            _pair("asked", fields["predicate"])
            _pair("expected", fields["answer_type"])
        _pair("in full", read_differently(turn) if "resolved_question" in turn else "")
        _pair("from the history", "; ".join(map(shown_part, turn.get("history_used", []))))
        evidences = turn.get("top_evidences", [])
        counts = Counter(evidence["source"] for evidence in evidences)
        _pair("asked for", "; ".join(turn["live"]["requests"]) if "live" in turn else "")
        say(f"found: {', '.join(f'{counts[source]} {source}' for source in counts) or 'nothing'}")
        for evidence in evidences[:_SHOWN]:
            say(f"{evidence.get('score', 0.0):6.2f} {evidence_line(evidence)}", indent=2)
        say("answers:" if turn["pred_answers"] else "answers: none")
        for answer in shown_answers(turn):
            reasons = ", ".join(answer.get("reasons", []))
            text = f"{answer['rank']}. {_shown_answer(answer, turn)}{f' by {reasons}' if reasons else ''}"
            say(text, indent=2, grey=f"({answer['answer']['id']})")
        for reason in turn.get("attribution", []):
            evidence = turn["top_evidences"][reason["evidence"]]
            left_out = "without it and all that say the same" if reason.get("together") else "without it"
            is_same = reason["without"] == turn["pred_answers"][0]["answer"]["label"]
            rest = f"{reason['probability']:.2f}" if is_same else reason["without"] or "no answer"
            say(f"rests on [{evidence['source']}] {evidence['evidence_text']}; {left_out}: {rest}")
        if "abstained" in turn:
            say(f"not known: {turn['abstained']['reason']}", "yellow")

    def _open(self, _: str) -> None:
        from ..documents.cited_passages import surroundings

        turns = self._answered
        answers, index = turns[-1]["pred_answers"] if turns else [], self._pipeline.resources.documents
        places = answers[0].get("evidences", []) if answers else []
        evidence = turns[-1]["top_evidences"][places[0]] if places else None
        if evidence is None or "citation" not in evidence or index is None:
            raise DataError("the last answer cites no file")
        file, heading = evidence["citation"]["file"], ""
        passages = surroundings(index, file, evidence["evidence_text"])
        if not passages:
            raise DataError(f"{file}: has changed; ask again")
        spans = evidence["quote"]["spans"] if "quote" in evidence else []
        say(file)
        for passage in passages:
            if passage.heading != heading:
                heading = passage.heading
                say(f"  {heading}")
            mark = ">" if passage.is_cited else " "
            text = _marked(passage.text, spans) if passage.is_cited else passage.text
            say(f"{mark} {passage.place:>10}  {text}", "bold" if passage.is_cited else "")

    # -- the conversation ----------------------------------------------------------------------------------------------

    def _sources(self, words: str) -> None:
        if words:
            self._session.sources = words
        say(f"answers are from {'_'.join(self._session.sources)}")

    def _new(self, _: str) -> None:
        self._session, self._path = self._pipeline.session(self._session.sources), None
        say("a new conversation")

    def _back(self, _: str) -> None:
        say(f"taken back: {self._session.back()['question']}")

    def _save(self, name: str) -> None:
        import msgspec

        from ..documents.files import CONVERSATION
        from ..documents.proof import relative_to
        from ..language.text import counted
        from ..support.files import replacing

        if not name and self._path is None:
            raise OutputError("/save needs the name of a file, such as /save talk.json")
        path = Path(name).expanduser() if name else self._path
        if path is None or (path != self._path and path.exists()):
            raise OutputError(f"{path}: is there already; name another file")
        if not path.parent.is_dir():
            raise OutputError(f"{path}: no folder {path.parent}; make it, or name another file")
        saved: dict[str, Any] = dict(self._session.conversation)
        if self._over:
            folder = path.resolve().parent
            saved = {"format": CONVERSATION, **saved}  # first: a folder that is asked about leaves out such files
            saved["over"] = [relative_to(folder, str(root)) for root in self._over]
            saved["sources"] = "_".join(self._session.sources)
        with replacing(path) as temporary:
            temporary.write_bytes(msgspec.json.encode(saved) + b"\n")
        self._path = path
        say(f"{path}: {counted(len(self._session), 'turn')}; {program()} chat {path} goes on with them")

    def _help(self, _: str) -> None:
        for name, (argument, text, _command) in self.COMMANDS.items():
            say(f"{f'{name} {argument}':20} {text}")
        say(
            "All else is a question or talk, such as: are you sure? Ctrl-C stops an answer; /exit, /quit or Ctrl-D ends."
        )

    COMMANDS: dict[str, tuple[str, str, Callable[[Chat, str], None]]] = {
        "/why": (
            "",
            "what was understood, taken from the history, found and scored for the last answer, and what it rests on",
            _why,
        ),
        "/open": ("", "the passage of the last answer among those around it in its file", _open),
        "/sources": ("SOURCES", "take the next answers from these, such as kb_text; alone: say which", _sources),
        "/back": ("", "take the last turn back", _back),
        "/new": ("", "begin a new conversation", _new),
        "/save": ("FILE", "write the conversation as JSON; alone: to the same file again", _save),
        "/help": ("", "this list", _help),
    }


def _marked(text: str, spans: list[QuoteSpan]) -> str:
    """Return a text with the answer between marks, which a copy of it and a screen reader have, too."""
    parts, done = [], 0
    for span in spans:
        if span["start"] >= done:  # answers of a list may overlap
            parts.append(f"{text[done : span['start']]}»{text[span['start'] : span['end']]}«")
            done = span["end"]
    return "".join(parts) + text[done:]


def _shown_answer(answer: RankedAnswer, turn: Turn) -> str:
    return f"{named(answer, turn)}  {answer.get('score', 0.0):.2f}"


def _shown_entities(entities: list[Entity]) -> str:
    return ", ".join(f"{entity['label']} ({entity['id']})" for entity in entities)


def _pair(name: str, text: str) -> None:
    if text:
        say(f"{name}: {text}", indent=2)
