"""The commands that write, as `kills` and `disks` try them: inputs, an older output that a newer one replaces, what of it is whole.

Not among them are `download`, which needs a host, `export`, and the trainings of neural models, which take minutes.
"""

from __future__ import annotations

import gzip
import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import convinse
from convinse.cli.verify import faults
from convinse.config import SNAPSHOT, resolve
from convinse.knowledge_base.index import KnowledgeBase
from convinse.passages.index import PassageIndex
from convinse.support.errors import ConvinseError, IndexFileError
from convinse.support.files import sha256
from convinse.wikipedia.dump import WikipediaDump

from ..harness import Bench, disk
from .campaign import Attempt, Trial

OLDER, NEWER = "older", "newer"
_SHARES = {OLDER: 0.6, NEWER: 1.0}  # of the inputs
_LIMIT = 300  # seconds, after which a command hangs
_RUN = "results/mine/kb_text"
_HIDDEN = (".tantivy", ".managed")  # files of the full-text engine, which are no leftovers

Content = Mapping[str, Any]  # part of an output, of which each is replaced at once -> what it holds


class Started(NamedTuple):
    """A process, and the file of what it writes to standard error: a pipe would be open as long as any of its children runs."""

    process: subprocess.Popen[bytes]
    errors: IO[bytes]


class Ended(NamedTuple):
    """A command that has come to its end."""

    status: int
    errors: str
    seconds: float


@dataclass(frozen=True)
class Command:
    """A command that writes into its working directory.

    arguments: `{in}` is the folder of inputs, and `{NAME}` that in which the command NAME of `needs` has worked.
    content: what is in the output, which raises where that is not whole.
    out: the output.
    appends: what is finished stays where the command was stopped; older results are moved aside, not replaced.
    quick: it is among those of a quick campaign.
    """

    arguments: tuple[str, ...]
    content: Callable[[Path], Content]
    out: str = "out"
    needs: tuple[str, ...] = ()
    appends: bool = False
    quick: bool = False


def _check_all(path: Path) -> None:
    """Compare every byte of what was built with its checksums. Raises `IndexFileError`."""
    for file, fault in faults(path):
        if fault:
            raise IndexFileError(f"{file}: {fault}")


def _kb(path: Path) -> Content:
    with closing(KnowledgeBase(path)) as kb:
        _check_all(path)
        return {"index": (kb.build_id, kb.names.search(["london"], 5))}


def _dump(path: Path) -> Content:
    _check_all(path)
    with closing(WikipediaDump(path)) as dump:
        return {"dump": (dump.build_id, [dump.get(item) for item in dump.items()])}


def _passages(path: Path) -> Content:
    _check_all(path)
    index = PassageIndex(path)
    return {"index": (index.build_id, index.search("w1 w2 w3", 20))}


def _files(path: Path) -> Content:
    """Each file on its own; hidden ones are of a writer that was killed."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("[!.]*") if file.is_file())
    return {file.relative_to(path.parent).as_posix(): sha256(file) for file in files}


def _folder(path: Path) -> Content:
    return {"folder": _files(path)}


def _run(path: Path) -> Content:
    """The finished conversations of a run."""
    lines = (path / "turns.jsonl").read_bytes().split(b"\n")[:-1]  # half a line is what a kill may leave
    return {json.loads(line)["conv_id"]: line for line in lines}


COMMANDS: dict[str, Command] = {
    "kb build": Command(("kb", "build", "{in}/dump.json", "--output", "out"), _kb, quick=True),
    "wikipedia build": Command(("wikipedia", "build", "{in}/pages.jsonl", "--output", "out"), _dump, quick=True),
    "retrieve index": Command(
        ("retrieve", "index", "{in}/passages.jl", "--output", "out", "--force"), _passages, quick=True
    ),
    "pipeline": Command(("pipeline", "kb_text", "{in}/my.yml"), _run, _RUN, appends=True, quick=True),
    "convert": Command(("convert", "{in}/squad.json", "out", "--to", "mrqa", "--from", "squad"), _files, quick=True),
    "wikipedia import-pickle": Command(("wikipedia", "import-pickle", "{in}/dump.pickle", "--output", "out"), _dump),
    "retrieve search": Command(
        ("retrieve", "search", "{retrieve index}/out", "{in}/in.tsv", "--output", "out", "--force"),
        _files,
        needs=("retrieve index",),
    ),
    "evaluate trec": Command(
        ("evaluate", "trec", f"{{pipeline}}/{_RUN}/turns.jsonl", "--output", "out", "--force"),
        _files,
        needs=("pipeline",),
    ),
    "annotate": Command(("annotate", "kb", "{in}/my.yml"), _files, "results/mine"),
    "train qu": Command(("train", "qu", "kb", "{in}/history.yml"), _folder, needs=("annotate",)),
    "read": Command(("read", "{in}/squad.json", "--output", "out", "--model", "snapshot:model"), _files),
    "pipeline with models": Command(("pipeline", "kb_text", "{in}/models.yml"), _run, _RUN, appends=True),
}


def attempts(bench: Bench, attempt: Callable[[str, Trial], str]) -> dict[str, Attempt]:
    """A group of trials for each command; in a quick campaign for some."""
    return {name: partial(attempt, name) for name, command in COMMANDS.items() if bench.size or command.quick}


class Prepared:
    """A command with both of its outputs, made once below a folder that all trials share.

    Args:
        kept: the folder.
        name: of the command.
    """

    def __init__(self, kept: Path, name: str) -> None:
        self.command = COMMANDS[name]
        self.folders = {age: _made(kept, age, name) for age in _SHARES}
        self.contents = {age: self.command.content(self._out(age)) for age in _SHARES}
        self.seconds = float((self.folders[NEWER] / ".seconds").read_text())
        self._kept, self._name = kept, name

    def _out(self, age: str) -> Path:
        return self.folders[age] / self.command.out

    @property
    def size(self) -> int:
        """Bytes of the newer output."""
        return disk(self._out(NEWER))

    @property
    def largest_file(self) -> int:
        """Bytes of the largest file of the newer output."""
        return max(disk(path) for path in [self._out(NEWER), *self._out(NEWER).rglob("*")] if path.is_file())

    def put_older(self, work: Path) -> None:
        """The older output, in a working directory."""
        out = work / self.command.out
        out.parent.mkdir(parents=True, exist_ok=True)
        if self._out(OLDER).is_dir():
            shutil.copytree(self._out(OLDER), out)
        else:
            shutil.copy(self._out(OLDER), out)

    def start(self, work: Path, **options: Any) -> Started:
        """Start the command that makes the newer output."""
        return _start(_arguments(self._kept, NEWER, self.command), work, **options)

    def again(self, work: Path) -> str:
        """Run the command once more, to its end; what is not as after an undisturbed run."""
        ended = to_its_end(self.start(work))
        if ended.status:
            return f"running it again ends with {ended.status}: {_last(ended.errors)}"
        content = self.content(work)
        if content != self.contents[NEWER]:
            return "running it again gives another result" if not isinstance(content, str) else content
        return self.leftovers(work)

    def content(self, work: Path) -> Content | str:
        """What the output holds; a line where that cannot be read."""
        try:
            return self.command.content(work / self.command.out)
        except (ConvinseError, OSError, ValueError, KeyError) as error:
            return f"the output is not whole: {error}"

    def is_whole(self, work: Path) -> str:
        """Nothing where every part of the output is the older or the newer one; what is not, otherwise."""
        if self.command.appends:
            return self._is_kept(work)
        content = self.content(work)
        if isinstance(content, str):
            return content
        for part in {*content, *self.contents[OLDER]}:
            if content.get(part) not in [self.contents[age].get(part) for age in _SHARES]:
                return f"{part} is neither the older nor the newer one"
        return ""

    def _is_kept(self, work: Path) -> str:
        """Of results that are moved aside: the older ones are somewhere, and what stands in their place is the newer."""
        out = work / self.command.out
        runs = [self.command.content(file.parent) for file in out.rglob("turns.jsonl")]
        if self.contents[OLDER] not in runs:
            return "the older results are gone"
        newer = self.contents[NEWER].items()
        return "" if all(run == self.contents[OLDER] or run.items() <= newer for run in runs) else "results are mixed"

    def leftovers(self, work: Path) -> str:
        """Nothing where nothing hidden lies below a folder; what does, otherwise."""
        hidden = [path for path in work.rglob(".*") if not path.name.startswith(_HIDDEN)]
        return f"left over: {hidden[0].relative_to(work)}" if hidden else ""


def _made(kept: Path, age: str, name: str) -> Path:
    """The folder in which a command has worked on the inputs of an age; it is run where that is not there yet."""
    folder = kept / age / name
    if not (folder / ".seconds").exists():
        command = COMMANDS[name]
        for needed in command.needs:
            _made(kept, age, needed)
        if not (kept / age / "in").exists():
            _write_inputs(kept, age)
        folder.mkdir(parents=True)
        ended = to_its_end(_start(_arguments(kept, age, command), folder))
        if ended.status:
            raise ConvinseError(f"{name}: {_last(ended.errors)}")
        (folder / ".seconds").write_text(str(ended.seconds))
    return folder


def _arguments(kept: Path, age: str, command: Command) -> list[str]:
    places = {name: str(kept / age / name) for name in ("in", *command.needs)}
    return [argument.format_map(places) for argument in command.arguments]


def _start(arguments: Sequence[str], work: Path, **options: Any) -> Started:
    """Start a command, in a group of processes of its own."""
    code = [str(Path(convinse.__file__).parents[1]), os.environ.get("PYTHONPATH")]
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - `to_its_end` closes it
    process = subprocess.Popen(
        [sys.executable, "-m", "convinse", *arguments, "--quiet"],
        cwd=work,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        # no .pyc files: half of one would stay on a full disk
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, code)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "XDG_CACHE_HOME": str(work),  # what a command keeps is on the same disk
        },
        **options,
    )
    return Started(process, errors)


def to_its_end(started: Started) -> Ended:
    """Wait for a process; one that hangs is killed."""
    start = time.perf_counter()
    hung = ""
    try:
        started.process.wait(_LIMIT)
    except subprocess.TimeoutExpired:
        started.process.kill()
        started.process.wait()
        hung = f"it hung for {_LIMIT} s"
    with started.errors as file:
        file.seek(0)
        return Ended(started.process.returncode, file.read().decode() + hung, time.perf_counter() - start)


def _last(errors: str) -> str:
    return (errors.strip().splitlines() or ["nothing is said"])[-1]


# -- inputs ------------------------------------------------------------------------------------------------------------


def _write_inputs(kept: Path, age: str) -> None:
    """The inputs of all commands: from the embedded data, and made up; those of both ages have most in common."""
    share, folder = _SHARES[age], kept / age / "in"
    folder.mkdir(parents=True)
    snapshot = resolve(SNAPSHOT)
    lines = gzip.decompress((snapshot / "entities.json.gz").read_bytes()).split(b"\n")
    (folder / "dump.json").write_bytes(b"\n".join(_part(lines, share)))
    pages = sorted((snapshot / "pages").glob("*.html"))
    rows = [
        {"title": page.stem, "qid": f"Q{number}", "html": page.read_text("utf-8")}
        for number, page in enumerate(pages, 1)
    ]
    _write_lines(folder / "pages.jsonl", _part(rows, share))
    evidence = {
        "source": "text",
        "disambiguations": [["seven", "Q7"]],
        "wikidata_entities": [{"id": "Q7", "label": "seven"}],
    }
    evidences = {f"Q{number}": [{"evidence_text": f"{number} and seven", **evidence}] for number in range(1, 2000)}
    (folder / "dump.pickle").write_bytes(pickle.dumps(dict(_part(list(evidences.items()), share))))
    words = random.Random(7)
    passages = [{"id": f"p{n}", "text": " ".join(f"w{words.randrange(3000)}" for _ in range(60))} for n in range(4000)]
    _write_lines(folder / "passages.jl", _part(passages, share))
    questions = ("".join(f"set\tw{n} w{n + 1} w{n + 2}\n") for n in range(300))
    (folder / "in.tsv").write_text("".join(_part(list(questions), share)))
    text = "Ann lives in Rome, the capital of Italy. Bob lives in Oslo, the capital of Norway."
    asked = [
        {
            "id": f"q{n}",
            "question": f"Where does {who} live? {n}",
            "answers": [{"text": city, "answer_start": text.index(city)}],
        }
        for n, (who, city) in enumerate([("Ann", "Rome"), ("Bob", "Oslo")] * 15)
    ]
    squad = {"version": "1.1", "data": [{"title": "x", "paragraphs": [{"context": text, "qas": _part(asked, share)}]}]}
    (folder / "squad.json").write_text(json.dumps(squad))
    for part, most in {"train": 26, "dev": 26, "test": 8}.items():
        conversations = json.loads((snapshot / "conversations" / f"{part}.json").read_bytes())[:most]
        (folder / f"{part}.json").write_text(json.dumps(_part(conversations, share)))
    common: dict[str, Any] = {"name": "mine", "benchmark_path": str(folder)}
    lexical = {"qu": "nc_all", "ha": "entity_voting", "evs": "bm25"}
    models = {"qu": "slots", "ha": "extractive", "ha_model": "snapshot:model", "evs": "cascade", "evs_model": "snapshot:model",
              "evs_bi_encoder": "snapshot:model", "evs_cascade": {"lexical": 3, "dense": 3}}  # fmt: skip
    learning = {"output": "out", "annotated": str(kept / age / "annotate" / "results" / "mine")}
    for name, own in {"my": lexical, "models": models, "history": {"qu": "history", "qu_training": learning}}.items():
        (folder / f"{name}.yml").write_text(json.dumps(common | own))  # JSON is YAML


def _part(values: list[Any], share: float) -> list[Any]:
    return values[: round(len(values) * share)]


def _write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
