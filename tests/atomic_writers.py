"""Everything that writes an output, each attacked in forked processes: run as `python atomic_writers.py WRITER KILLS` in an empty folder.

A process is killed at an instant (one of its changes of files, or the byte at which a file grows beyond a limit), meets a full disk, or may not write.
It prints one line of JSON for each attack: what it was, how the process ended, whether the output is the older one, the newer one or neither, what is
left beside it, and whether the next run ends well.
"""

import json
import os
import pickle
import resource
import shutil
import signal
import sys
from contextlib import closing
from pathlib import Path

from convinse.cli import main
from convinse.documents.index import DocumentIndex
from convinse.documents.update import update
from convinse.formats.run_folder import RunFolder, with_line
from convinse.knowledge_base.index import KnowledgeBase
from convinse.passages.index import PassageIndex
from convinse.support.cache import Cache
from convinse.support.errors import ConvinseError, IndexFileError
from convinse.support.manifest import Manifest, check_folder, read_manifest
from convinse.support.vectors import VectorCache
from convinse.training.trainer import write_folder
from convinse.wikipedia.dump import WikipediaDump
from evidences import evidence
from handmade import claim, document, q, world
from handmade import write as write_documents
from written import write, write_lines

OUT = Path("out")
_CHANGES = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree", "sqlite3.connect")
_NOBODY = 65534


def inputs(version):
    """What the writers read, of another content in each version."""
    more = document("Q90001", f"The {version} one", claim("P31", q("Q5")))
    write_documents(Path(f"{version}.json"), [*world(), more])
    write_lines(f"{version}.jl", *({"id": f"p{n}", "text": f"{version} w{n} w{n * n}"} for n in range(300)))
    html = "<p>The {} page {} of <a href='/wiki/{}'>this</a>.</p>"
    saved = [{"title": f"{n}", "qid": f"Q{n}", "html": html.format(version, n * n, n % 7)} for n in range(1, 80)]
    write_lines(f"{version}-pages.jl", *saved)
    pages = {f"Q{n}": [evidence(f"{version} {n} {n * n}", "text", ("One", "Q1"))] for n in range(1, 200)}
    write(f"{version}.pickle", pickle.dumps(pages))
    answers = [{"text": version, "answer_start": 0}]
    questions = [{"id": f"{n}", "question": "?", "answers": answers} for n in range(300)]
    paragraphs = [{"context": f"{version} text", "qas": questions}]
    for number in range(40):
        write(
            Path(f"{version}-files") / f"{number}.txt", f"File {number}\n\nThe {version} text of {number * number}.\n"
        )
    write(f"{version}-squad.json", {"version": "1.1", "data": [{"title": "t", "paragraphs": paragraphs}]})


def command(*arguments):
    return lambda version: main([argument.format(version) for argument in arguments])


def write_model(version):
    write_folder(OUT, lambda folder: write(folder / "weights.json", version * 5000), "card", {"version": version})


def write_results(version):
    """A run that goes on where an older one ended."""
    names = ["a", "b"] if version == "old" else ["a", "b", "c", "d"]
    with RunFolder(OUT, {"settings": "same"}) as output:
        for name in names:
            if name not in output.finished:
                turn = {"turn": 0, "question": "?", "note": f"{name} " * 2000}
                output.add(*with_line({"conv_id": name, "questions": [turn]}))
        output.write_metrics({"num_questions": len(names)})


def update_kb(version):
    """Entity documents into an index that is there."""
    if not OUT.exists():
        main(["kb", "build", "../old.json", "--output", "out", "--quiet"])
    return main(["kb", "update", "out", f"../{version}.json", "--quiet"])


def add_pages(version):
    """Pages that link to one another, added to a dump that is there."""
    if not OUT.exists():
        main(["wikipedia", "build", "../old-pages.jl", "--output", "out", "--quiet"])
    return main(["wikipedia", "add", "out", f"../{version}-pages.jl", "--quiet"])


def write_index(version):
    update(OUT, [Path(f"../{version}-files")], None)


def write_cache(version):
    with closing(Cache(OUT)) as cache:
        for number in range(40 if version == "new" else 20):
            cache.put("kind", number, value=[number, "x" * 100])
            VectorCache(cache, "model", 2).put([f"text {number}"], [[number, 1]])


def opened(kind):
    def read():
        with closing(kind(OUT)) as opened:
            return opened.build_id

    return read


def read_model():
    check_folder(OUT, IndexFileError)
    return read_manifest(OUT, Manifest, 1, "", "{}").build_id


def read_results():
    with RunFolder(OUT, {"settings": "same"}) as output:
        finished = list(output.finished)
    return "neither" if finished != ["a", "b", "c", "d"][: len(finished)] or len(finished) < 2 else "older or newer"


def read_cache():
    with closing(Cache(OUT)) as cache:
        numbers = [cache.get("kind", number) for number in range(40)]
        vectors, is_known = VectorCache(cache, "model", 2).get([f"text {number}" for number in range(40)])
    complete = all(numbers[:20]) and is_known[:20].all()
    right = all(value in (None, [number, "x" * 100]) for number, value in enumerate(numbers))
    return "older or newer" if complete and right and (vectors[is_known][:, 1] == 1).all() else "neither"


WRITERS = {
    "knowledge base": (command("kb", "build", "../{}.json", "--output", "out", "--quiet"), opened(KnowledgeBase)),
    "changed knowledge base": (update_kb, opened(KnowledgeBase)),
    "passages": (command("retrieve", "index", "../{}.jl", "--output", "out", "--force", "--quiet"), lambda: PassageIndex(OUT).build_id),
    "Wikipedia dump": (command("wikipedia", "import-pickle", "../{}.pickle", "--output", "out", "--quiet"), opened(WikipediaDump)),
    "pages of a Wikipedia dump": (add_pages, opened(WikipediaDump)),
    "documents": (write_index, opened(DocumentIndex)),
    "converted": (command("convert", "../{}-squad.json", "out", "--to", "mrqa", "--from", "squad"), OUT.read_bytes),
    "model": (write_model, read_model),
    "results": (write_results, read_results),
    "cache": (write_cache, read_cache),
}  # fmt: skip


def forked(action, *arguments):
    """How a forked process ends that does something: its exit status, or less than 0 the signal, and its lines on standard error."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.dup2(writing, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 3
        try:
            status = action(*arguments) or 0
        except ConvinseError as error:
            print(f"convinse: {error}", file=sys.stderr)
            status = 1
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as errors:
        lines = errors.read().splitlines()
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), lines


def counted(write, last=None):
    """Write the new version; the process is killed before its change of files of this number. Tells of all changes."""
    changes = []

    def change(event, arguments):
        if event in _CHANGES and str(arguments[0]).lstrip(".").startswith("out"):
            changes.append(event)
            if len(changes) == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(change)
    write("new")
    print(*changes, file=sys.stderr)


def limited(write, size, full):
    """Write the new version; where a file gets larger than `size`, the disk is full, or the process is killed."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN if full else signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return write("new")


def read_only(write):
    os.chdir("../new")
    write("new")  # so that all modules are imported while they may be read
    os.chdir("../trial")
    for path in (Path(), *Path().rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    if not os.getuid():  # whom rights do not bind
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    return write("new")


def spread(number, length):
    """So many whole numbers below a length, the middles of equal parts."""
    return [length * (2 * part + 1) // (2 * number) for part in range(number)]


def attacks(write, changes, largest, kills):
    """The name of each attack, and what to do. Of six kills two are before, two at and two after the renames of a folder."""
    renames = [number for number, event in enumerate(changes, 1) if event == "os.rename"][-2:]  # a folder takes two
    by_changes = max(kills // 2, 3 + len(renames))
    before = [1 + instant for instant in spread(by_changes - 2 * len(renames), len(changes))]
    for instant in [*before, *renames, *(rename + 1 for rename in renames)]:
        yield "kill", counted, write, instant
    for size in spread(kills - by_changes, largest):
        yield "kill", limited, write, size, False
    yield from (("full", limited, write, size, True) for size in (0, largest // 2))
    yield "read-only", read_only, write


def main_of(name, kills):
    write, read = WRITERS[name]
    Path().chmod(0o755)
    for version in ("old", "new"):
        inputs(version)
    states = {}
    for version in ("old", "new"):
        Path(version).mkdir()
        os.chdir(version)
        assert forked(write, version) == (0, []), version
        states[version] = read()
        os.chdir("..")
    shutil.copytree("old", "trial")
    os.chdir("trial")
    changes = forked(counted, write)[1][-1].split()
    os.chdir("..")
    largest = max(path.stat().st_size for path in Path("new").rglob("*") if path.is_file())
    for kind, attack, *arguments in attacks(write, changes, largest, kills):
        shutil.rmtree("trial")
        shutil.copytree("old", "trial")
        os.chdir("trial")
        status, lines = forked(attack, *arguments)
        for path in (Path(), *Path().rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        state = read()
        again = forked(write, "new")[0]
        left = sorted(path.name for path in Path().iterdir() if path != OUT)
        same = {states["old"]: "older", states["new"]: "newer"} if len(set(states.values())) == 2 else {state: state}
        newer = read() == states["new"]
        os.chdir("..")
        print(
            json.dumps([kind, arguments[1:], status, lines, same.get(state, "neither"), again, left, newer]), flush=True
        )


if __name__ == "__main__":
    main_of(sys.argv[1], int(sys.argv[2]))
