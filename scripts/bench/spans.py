"""Answers over files beside gold spans, and beside BM25 with the same reader; docs/benchmarks.md has the form of the spans."""

import random
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec
from typing_extensions import TypedDict

from convinse import Evidence, ExtractiveReader, Pipeline, Turn, load_config
from convinse.cli.documents import update_index
from convinse.documents.index import DocumentIndex, settings_over
from convinse.documents.quotes import add_quotes, answers_of
from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer
from convinse.records.conversation import EvidenceSpan, check_question
from convinse.records.evidence import SOURCES
from convinse.scoring.extractive import normalize, overlap_f1
from convinse.serving.chat_completions import ChatRequest, chat_question, session_after
from convinse.support.errors import DataError
from convinse.support.jsonlines import read_lines
from recipes.sources import records

from .harness import Bench, Figures, note
from .timing import timed

PLAIN = "BM25, the same reader"
_READ = 10  # passages that the baseline reads
_SEED = 7
_ANSWERS = {
    "questions": ("questions", "{}"), "precision": ("precision", "{:.3f}"), "recall": ("recall", "{:.3f}"), "F1": ("f1", "{:.3f}"),
    "F1 of places": ("f1_places", "{:.3f}"), "abstains": ("abstains", "{:.3f}"),
    "unanswerable": ("unanswerable", "{}"), "abstains there": ("abstains_rightly", "{:.3f}"), "seconds": ("seconds", "{:.2f}"),
}  # fmt: skip
_PASSAGES = {
    "file first": ("file_first", "{:.3f}"), "passage found": ("passage_found", "{:.3f}"), "passage first": ("passage_first", "{:.3f}"),
    "recall of the first passage": ("passage_recall", "{:.3f}"),
}  # fmt: skip

Place = tuple[int, int]  # the number of a passage, and of a word in it


class Passage(msgspec.Struct, frozen=True):
    """A passage, which becomes a file; its name is the title, if there is one."""

    text: str
    id: str = ""
    title: str = ""


class Span(msgspec.Struct):
    """A gold span: its text, or its start and end in characters, in the passage of a number (from 0) or an id."""

    passage: int | str | None = None
    text: str = ""
    start: int = 0
    end: int = 0


class Message(TypedDict):
    """A message before a question, as OpenAI's API has them."""

    role: Literal["user", "assistant"]
    content: str


class SpanLine(msgspec.Struct):
    """A question; without passages it has those of the line before."""

    question: str
    spans: list[Span | str]
    passages: list[Passage] = []
    history: list[Message] = []


def read_spans(path: Path) -> list[SpanLine]:
    """Read the lines of a file, plain or packed. Raises `DataError`, which names the line."""
    lines: list[SpanLine] = []
    for number, line in read_lines(path, SpanLine):
        line.passages = line.passages or (lines[-1].passages if lines else [])
        try:
            if not line.passages:
                raise DataError("no passages; the first line needs 'passages'")
            check_question(line.question)
            for span in line.spans:
                gold_words(line, span)
        except DataError as error:
            raise DataError(f"{path}:{number}: {error}") from None
        lines.append(line)
    if not lines:
        raise DataError(f"{path}: no questions; docs/benchmarks.md has the form of a line")
    return lines


def gold_words(line: SpanLine, span: Span | str) -> tuple[list[str], set[Place]]:
    """Return the words of a gold span and their places; a text without a passage is of the first that has it, or of none.

    Raises `DataError` if a passage does not have its span.
    """
    span = Span(text=span) if isinstance(span, str) else span
    for number, passage in enumerate(line.passages):
        if span.passage in (None, number, passage.id):
            if span.text:
                part, places = _words(span.text), _places(number, _words(span.text), _words(passage.text))
            else:
                part = _words(passage.text[max(0, span.start) : span.end])
                before = len(_words(passage.text[: max(0, span.start)]))
                places = {(number, before + word) for word in range(len(part))}
            if places and (span.text or span.passage is not None):
                return part, places
    if span.passage is None and _words(span.text):
        return _words(span.text), set()
    shown = span.text[:60] or f"{span.start} to {span.end}"
    raise DataError(
        f"passage {span.passage!r} has no span '{shown}'; name a passage by its number or id, and what it says"
    )


def _words(text: str) -> list[str]:
    return normalize(text).split()


def _places(number: int, part: Sequence[str], passage: Sequence[str]) -> set[Place]:
    text, searched = f" {' '.join(passage)} ", f" {' '.join(part)} "
    at = text.find(searched) if part else -1
    start = text.count(" ", 0, at)
    return set() if at < 0 else {(number, start + word) for word in range(len(part))}


def measures_of(line: SpanLine, turn: Turn) -> Figures:
    """Return the measures of an answered question; without those of places if the gold spans have none.

    Files are named `.../NUMBER/NAME`, by the number of their passage. A suggestion counts as an answer.
    """
    answers = answers_of(turn) or turn.get("pred_answers", [])[:1]
    abstains = "abstained" in turn or not answers
    if not line.spans:
        return {"abstains_rightly": abstains}
    gold, right = _joined(gold_words(line, span) for span in line.spans)
    places = dict.fromkeys(answer["evidences"][0] for answer in answers if answer.get("evidences"))
    cited = [turn["top_evidences"][place] for place in places]
    answer, said = _joined(span for evidence in cited for span in _cited_spans(line, evidence))
    answer = answer or _words(" ".join(ranked["answer"]["label"] for ranked in answers))
    passage, first = _quoted(line, cited[0]) if cited else ([], set())
    figures: Figures = {
        "abstains": abstains,
        "precision": (Counter(answer) & Counter(gold)).total() / max(1, len(answer)),
        "recall": (Counter(answer) & Counter(gold)).total() / len(gold),
        "f1": overlap_f1(answer, gold),
        "passage_recall": (Counter(passage) & Counter(gold)).total() / len(gold),
    }
    if not right:
        return figures
    return figures | {
        "f1_places": 2 * len(said & right) / (len(said) + len(right)),
        "file_first": bool(cited) and _number_of(cited[0]) in {number for number, _ in right},
        "passage_first": bool(first & right),
        "passage_found": any(_quoted(line, evidence)[1] & right for evidence in turn.get("top_evidences", ())),
    }


def _joined(spans: Iterable[tuple[list[str], set[Place]]]) -> tuple[list[str], set[Place]]:
    words, places = [], set[Place]()
    for part, part_places in spans:
        words += part
        places |= part_places
    return words, places


def _number_of(evidence: Evidence) -> int:
    return int(evidence["quote"]["path"].split("/")[-2])


def _quoted(line: SpanLine, evidence: Evidence) -> tuple[list[str], set[Place]]:
    number, words = _number_of(evidence), _words(evidence["quote"]["words"])
    return words, _places(number, words, _words(line.passages[number].text))


def _cited_spans(line: SpanLine, evidence: Evidence) -> Iterator[tuple[list[str], set[Place]]]:
    """Yield the words and places of the spans that an evidence is cited for."""
    quote, (_, places) = evidence["quote"], _quoted(line, evidence)
    for span in quote["spans"]:
        part = _words(quote["words"][span["start"] : span["end"]])
        start = len(_words(quote["words"][: span["start"]])) + min((word for _, word in places), default=0)
        yield part, {(_number_of(evidence), start + word) for word in range(len(part))} & places


# -- systems ------------------------------------------------------------------------------------------------------------


class PlainReading:
    """The baseline over an index of files: BM25 ranks all passages, the reader marks its best span in the first ten."""

    def __init__(self, index: DocumentIndex, reader: ExtractiveReader) -> None:
        self._index, self._reader, self._scorer = index, reader, BM25Scorer()
        self._evidences = [evidence for item in index.items() for evidence in index.get(item) or ()]

    def ask(self, question: str) -> Turn:
        """Return a turn with the best span and the ten passages; it abstains if "no answer" is more probable."""
        evidences = self._scorer.rank(question, self._evidences, _READ)
        spans = self._reader.read(question, [evidence["evidence_text"] for evidence in evidences], top_k=1)
        turn: Turn = {"question": question, "top_evidences": evidences, "pred_answers": []}
        for span in spans:
            place: EvidenceSpan = {"evidence": span.context, "start": span.start, "end": span.end}
            turn["pred_answers"] = [
                {
                    "answer": {"id": span.text, "label": span.text}, "score": span.probability, "rank": 1,
                    "evidences": [span.context], "spans": [place],
                }
            ]  # fmt: skip
        if not spans or spans[0].no_answer > 0.5:
            turn["abstained"] = {"reason": "the reader finds no answer"}
        add_quotes([turn], self._index)
        return turn


def _ask_after(pipeline: Pipeline, line: SpanLine, history: bool) -> Turn:
    messages = [*(line.history if history else []), {"role": "user", "content": line.question}]
    question, earlier = chat_question(ChatRequest.model_validate({"messages": messages}))
    return session_after(pipeline, SOURCES, earlier).ask(question)


# -- measuring ----------------------------------------------------------------------------------------------------------


def spans(bench: Bench) -> Figures:
    """Ask the questions of `--spans`, or of doc2dial, with the messages before them and alone; nothing without the data."""
    path = bench.options.spans
    if path is None and not (bench.folder / "doc2dial").is_dir():
        bench.console.print("doc2dial is not measured: it is not among the shared data; --spans FILE measures a file")
        return {}
    conversations = _doc2dial(bench) if path is None else [[line] for line in read_spans(path)]
    groups: defaultdict[tuple[Passage, ...], list[SpanLine]] = defaultdict(list)
    for line in _drawn(conversations, bench.size.spans):
        groups[tuple(line.passages)].append(line)
    measured: defaultdict[str, list[Figures]] = defaultdict(list)
    for number, (passages, lines) in enumerate(groups.items()):
        note(f"asking {len(lines)} questions over {len(passages)} passages ...")
        for system, figures in ask_over(bench.work / "spans" / str(number), passages, lines):
            measured[system].append(figures)
    rows = {system: _means(figures) for system, figures in measured.items()}
    name = "doc2dial" if path is None else path.name
    bench.compare(f"{name}: words of the answers", ("system",), _ANSWERS, {(): rows})
    bench.compare(f"{name}: passages of the answers", ("system",), _PASSAGES, {(): rows})
    return rows


def ask_over(
    folder: Path, passages: Collection[Passage], lines: Sequence[SpanLine], configuration: str = "config.yml"
) -> Iterator[tuple[str, Figures]]:
    """Yield the measures of each question with the name of the system, over an index of the passages that is made in the folder."""
    for number, passage in enumerate(passages):
        name = re.sub(r"\W+", " ", passage.title).strip()[:100] or str(number)
        path = folder / "files" / str(number) / f"{name}.txt"
        path.parent.mkdir(parents=True)
        path.write_text(passage.text, encoding="utf-8")
    update_index(folder / "index", [folder / "files"], "snapshot:model", quiet=True)
    config = load_config(configuration, **settings_over(folder / "index"), ers_use_cache=False)
    with Pipeline(config) as pipeline, closing(DocumentIndex(folder / "index")) as index:
        systems: dict[str, Callable[[SpanLine], Turn]] = {}
        if any(line.history for line in lines):
            systems[f"{configuration}, history"] = partial(_ask_after, pipeline, history=True)
        systems[configuration] = partial(_ask_after, pipeline, history=False)
        plain = PlainReading(index, ExtractiveReader(load_config("config.yml")))
        systems[PLAIN] = lambda line: plain.ask(line.question)
        for system, ask in systems.items():
            for line in lines:
                seconds, turn = timed(partial(ask, line))
                yield system, {"seconds": seconds, **measures_of(line, turn)}


def _means(measured: Sequence[Figures]) -> Figures:
    """Return the means of measures, each over the questions that have it; of the seconds the median."""
    columns: defaultdict[str, list[float]] = defaultdict(list)
    for figures in measured:
        for name, value in figures.items():
            columns[name].append(value)
    means = {name: sum(values) / len(values) for name, values in columns.items()}
    counts = {"questions": len(columns["f1"]), "unanswerable": len(columns["abstains_rightly"]) or None}
    return {**means, **counts, "seconds": statistics.median(columns["seconds"])}


def _doc2dial(bench: Bench) -> list[list[SpanLine]]:
    documents = list(records(bench.folder, "doc2dial", "documents.jsonl.gz"))
    passages = [Passage(document["text"], document["id"], document["title"]) for document in documents]
    roles: dict[str, Literal["user", "assistant"]] = {"user": "user", "agent": "assistant"}
    conversations: defaultdict[str, list[SpanLine]] = defaultdict(list)
    for turn in records(bench.folder, "doc2dial", "conversations.jsonl.gz"):
        start, end = turn["answer_start"], turn["answer_start"] + len(turn["answer"])
        history: list[Message] = [{"role": roles[said["speaker"]], "content": said["text"]} for said in turn["history"]]
        gold = Span(turn["document_id"], "", start, end)
        conversations[turn["conv_id"]].append(SpanLine(turn["question"], [gold], passages, history))
    return list(conversations.values())


def _drawn(conversations: list[list[SpanLine]], most: int | None) -> Iterator[SpanLine]:
    """Yield the lines of whole conversations in an order by chance, always the same, as long as they are not more than `most`."""
    random.Random(_SEED).shuffle(conversations)
    count = 0
    for lines in conversations:
        count += len(lines)
        if most is not None and count > most:
            return
        yield from lines
