"""Conversations in OpenAI's shape of chat completions: messages in, a message out.

User messages are the questions, assistant messages their answers. The first line of an answer names it, with its id and score,
so that a conversation that comes back as text is the same conversation: nothing is kept between requests.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

from ..dialogue.examples import can_be_asked
from ..dialogue.session import Session
from ..encoder.tokens import TokenCounter
from ..knowledge_base.linking import repair
from ..pipeline import Pipeline
from ..question_understanding.base import turns_in_step, understand
from ..records.conversation import Conversation, RankedAnswer, Turn, new_turn
from ..records.evidence import SOURCES, Entity, parse_sources
from ..records.written_values import UNKNOWN, find_literals, value_at
from ..resources import Resources
from ..support.errors import ConfigError
from .app import openai_error
from .conversations import checked_question
from .turns import EventWriter, event

MODEL = "convinse"  # `convinse:kb_text` is the same with these sources
_EARLIER = 30  # turns that count as the conversation, the last ones: each is understood anew
_EVIDENCES = 5  # that the text of an answer shows
_LONGEST_ANSWER = 300  # characters of an earlier answer; the longest names of items have some 250
_LONGEST_LINE = 2_000  # characters of its first line: the pattern takes quadratic time on some
_LEAST_FIT = 0.3  # of what a sentence names: an item of unknown class may be the answer
_TEXT_PARTS = ("text", "input_text", "output_text")
_MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*_`#>]+|(?:\s*\[\d+\])+$")  # of Markdown: links, marks and notes
_LEAD = re.compile(r"(?:[-•–]|\d{1,2}[.)])\s+|[^\W\d]{1,9}(?:\s\w{1,9})?:\s+")  # of an item of a list, "Answer:"
_YES_OR_NO = re.compile(r"(yes|no)\b(?!\s\w)", re.IGNORECASE)
_ANSWER_LINE = re.compile(
    r"(?P<label>.+?) \((?:(?P<id>[^(),]+), )?(?:[^();]+; )?score (?P<score>-?[0-9.]+)(?:; not sure: .*)?\)"
)
_NO_ANSWER = "No answer was found."


class _ChatShape(BaseModel):
    model_config = ConfigDict(strict=True)


class ContentPart(_ChatShape):
    """A part of a message."""

    type: str
    text: str | None = None


class ChatMessage(_ChatShape):
    """A message; of an assistant that called tools it has no content."""

    role: str
    content: str | list[ContentPart] | None = None

    @property
    def text(self) -> str:
        """All of its text; pictures, sounds and refusals have none."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type in _TEXT_PARTS and part.text)
        return self.content or ""


class StreamOptions(_ChatShape):
    """Further parts of a stream."""

    include_usage: bool | None = None


class ChatRequest(_ChatShape):
    """The keys of a request that have a meaning here; temperature and the like are passed over."""

    messages: list[ChatMessage]
    model: str = MODEL
    stream: bool | None = None
    n: int | None = None
    stream_options: StreamOptions | None = None

    @property
    def wants_usage(self) -> bool:
        """Whether the answer counts tokens: in a stream only if the request says so."""
        return not self.stream or bool(self.stream_options and self.stream_options.include_usage)


def model_card(name: str) -> dict[str, Any]:
    """Describe a model as OpenAI does. Raises `HTTPException` (404)."""
    sources_of(name, SOURCES)
    return {"id": name, "object": "model", "created": 0, "owned_by": MODEL}


def sources_of(name: str, usual: Sequence[str]) -> tuple[str, ...]:
    """Return the sources in a model's name. Raises `HTTPException` (404)."""
    base, colon, sources = name.partition(":")
    try:
        if base == MODEL:
            return parse_sources(sources) if colon else tuple(usual)
    except ConfigError:
        pass
    raise HTTPException(404, f"no model '{name[:100]}'; there are '{MODEL}' and '{MODEL}:SOURCES', as {MODEL}:kb_text")


def chat_question(request: ChatRequest) -> tuple[str, list[Turn]]:
    """Return the question of a request and the turns before it. Raises `HTTPException` (400, 413).

    Programs send earlier messages again that were refused; they are passed over, and so are calls of tools.
    """
    if request.n not in (None, 1):
        raise HTTPException(400, "n: one answer is given; leave it out or set it to 1")
    turns: list[Turn] = []
    for message in request.messages:
        if message.role == "user":
            turns.append(new_turn(turn=len(turns), question=message.text, pred_answers=[]))
        elif message.role == "assistant" and turns and message.text:
            turns[-1]["pred_answers"] = _answers_of(message.text)
        last = message.role
    if not turns or last != "user":
        raise HTTPException(400, "messages: the last one must be of the role 'user'; it is the question")
    *earlier, last_turn = turns
    question = checked_question(last_turn["question"])
    return question, [turn for turn in earlier if can_be_asked(turn["question"])][-_EARLIER:]


def _answers_of(text: str) -> list[RankedAnswer]:
    lines = [line.strip() for line in text.strip().split("\n")[:4] if line.strip()]
    plain = [_MARKUP.sub(r"\1", line[:_LONGEST_LINE]).strip() for line in lines]
    # "Answer:" has the answer below it
    line = next((line for line, words in zip(lines, plain, strict=True) if not _LEAD.fullmatch(f"{words} ")), "")
    if not line or line == _NO_ANSWER:
        return []
    match = _ANSWER_LINE.fullmatch(line[:_LONGEST_LINE])
    if match is None:  # of another program: `session_after` finds what it names
        return [{"answer": Entity(id="", label=line[:_LONGEST_ANSWER]), "score": 1.0, "rank": 1}]
    score = float(match["score"]) if match["score"].count(".") < 2 else 1.0
    return [{"answer": Entity(id=match["id"] or match["label"], label=match["label"]), "score": score, "rank": 1}]


def session_after(pipeline: Pipeline, sources: Sequence[str], earlier: Sequence[Turn]) -> Session:
    """Return a session that goes on after these turns; they are understood, and not answered again. Talk among them is passed over."""
    earlier = [turn for turn in earlier if not pipeline.dialogue.is_talk(turn["question"])]
    conversation: Conversation = {"conv_id": "chat", "questions": earlier}
    for turn in earlier:
        for answer in turn["pred_answers"][:]:
            if not answer["answer"]["id"]:
                named = _named(pipeline.resources, turn["question"], answer["answer"]["label"])
                turn["pred_answers"] = [] if named is None else [{**answer, "answer": named}]
    for turns, histories in turns_in_step([conversation], use_gold_answers=False):
        understand(pipeline.qu, turns, histories, use_gold_answers=False)
    return pipeline.session(sources, conversation)


def _named(resources: Resources, question: str, line: str) -> Entity | None:
    """Return what a line of another program answers: an item, a date or a number, else the line; None if it has no answer."""
    language, linker = resources.language, resources.linker
    text = repair(_LEAD.sub("", _MARKUP.sub(r"\1", line).strip(), count=1).strip(' \t.:"“”'))
    if text.lower() in UNKNOWN or language.talk.no_answer.match(text):
        return None
    if language.answer_types.is_existential(question) and (match := _YES_OR_NO.match(text)):
        return Entity(id=match[1].capitalize(), label=match[1].capitalize())
    mentions = linker.link(text)
    if len(mentions) == 1 and mentions[0].end - mentions[0].start == len(text):
        return mentions[0].candidates[0].entity
    mentions = [mention for mention in mentions if mention.surface[:1].isupper()]
    if not mentions and (value := value_at(text, 0, len(text))) is not None:
        return value
    # a sentence: of what it names beside the things of the question, the first that fits it best
    question_items = {candidate.id for mention in linker.link(question) for candidate in mention.candidates}
    expected = language.answer_types.expected_type(question)
    named = [(span.start, span.entity) for span in find_literals(text)]
    named += [(mention.start, mention.candidates[0].entity) for mention in mentions]
    found = [
        (language.answer_types.fit(expected, entity["id"], resources.kb.types(entity["id"])), -start, entity)
        for start, entity in named
        if entity["id"] not in question_items
    ]
    fit, _, entity = max(found, key=itemgetter(0, 1), default=(0.0, 0, None))
    return entity if entity is not None and fit >= _LEAST_FIT else Entity(id=text, label=text)


def answer_lines(turn: Turn) -> list[str]:
    """Write an answer as text: a line that names it, and its evidences by number; then a question back, and the answers to further parts."""
    lines = _answer_lines(turn)
    if (back := turn.get("clarification")) is not None:
        lines += ["", back["question"]] if turn["pred_answers"] else []
        lines += [
            f"{number}. {choice['label']}: {choice['description']}" for number, choice in enumerate(back["choices"], 1)
        ]
    for part in turn.get("parts", []):
        lines += ["", part["question"], *_answer_lines(part)]
    return lines


def _answer_lines(turn: Turn) -> list[str]:
    answers = turn["pred_answers"]
    if not answers:
        return [turn.get("sentence", _NO_ANSWER)]
    best = answers[0]
    entity = best["answer"]
    item = "" if entity["id"] == entity["label"] else f"{entity['id']}, "
    when = f"{best['time']}; " if "time" in best else ""
    unsure = f"; not sure: {turn['abstained']['reason']}" if "abstained" in turn else ""
    evidences = turn["top_evidences"]
    places = best.get("evidences") or range(len(evidences))
    shown = [evidences[place] for place in places[:_EVIDENCES]]
    return [
        f"{entity['label']} ({item}{when}score {best['score']:.2f}{unsure})",
        *([""] if shown else []),
        *(f"[{number}] {evidence['evidence_text']} ({evidence['source']})" for number, evidence in enumerate(shown, 1)),
    ]


def usage(question: str, earlier: Sequence[Turn], turn: Turn, counter: TokenCounter) -> dict[str, int]:
    """Count the tokens of the conversation and those of the answer's text."""
    answers = [answer["answer"]["label"] for turn in earlier for answer in turn["pred_answers"]]
    prompt = counter.count([*(turn["question"] for turn in earlier), *answers, question])
    answer = counter.count(["\n".join(answer_lines(turn))])
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


def completion(turn: Turn, name: str, tokens: dict[str, int]) -> dict[str, Any]:
    """Write the whole answer of a request; `convinse` has the turn, `tokens` is its `usage`."""
    message = {"role": "assistant", "content": "\n".join(answer_lines(turn))}
    return {
        **_head(name, "chat.completion"),
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": tokens,
        "convinse": turn,
    }


def completion_events(request: ChatRequest, tokens: dict[str, int]) -> EventWriter:
    """Return the writer of a stream: the role at once, the lines of the answer, the end with the turn, and `[DONE]`.

    `tokens` is the `usage`, and is filled when the turn is there.
    """
    head = _head(request.model, "chat.completion.chunk")

    def chunk(delta: dict[str, str], reason: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return event({**head, "choices": [choice], **more})

    def write(kind: str, value: Any) -> Iterable[bytes]:
        if kind == "begin":
            yield chunk({"role": "assistant", "content": ""})
        elif kind == "stage":
            yield f": {value['stage']}\n\n".encode()  # a comment: clients pass it over, and see that something comes
        elif kind == "error":
            yield event(openai_error(value))
        else:
            for number, line in enumerate(answer_lines(value)):
                yield chunk({"content": f"\n{line}" if number else line})
            yield chunk({}, "stop", convinse=value)
            if request.wants_usage:
                yield event({**head, "choices": [], "usage": tokens})
            yield b"data: [DONE]\n\n"

    return write


def _head(name: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{secrets.token_hex(12)}", "object": kind, "created": int(time.time()), "model": name}
