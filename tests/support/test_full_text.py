import os
import stat
from contextlib import contextmanager
from pathlib import Path

import pytest

from convinse.knowledge_base.build import build
from convinse.knowledge_base.index import KnowledgeBase
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.support.errors import IndexFileError
from convinse.support.full_text import FullText
from convinse.wikipedia.dump import WikipediaDump, write_dump
from evidences import evidence
from handmade import world
from handmade import write as write_documents
from refusals import refused

FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from convinse.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(main([*sys.argv[2:], "--quiet"]))
"""


@pytest.fixture
def built(workdir, corpus):
    """Built folders and a file, with the umask of a group that may read."""
    before = os.umask(0o027)
    try:
        build(write_documents(workdir / "dump.json", world()), workdir / "kb")
        build_index(corpus([("a", "one two")]), workdir / "passages", quiet=True)
        write_dump(workdir / "wikipedia.db", [("Q1", [evidence("seven", "text", ("seven", "Q7"))])])
    finally:
        os.umask(before)
    return workdir


def test_all_that_is_built_has_the_rights_of_the_umask(built):
    modes = {
        path: stat.S_IMODE(path.stat().st_mode)
        for name in ("kb", "passages", "wikipedia.db")
        for path in [built / name, *(built / name).rglob("*")]
    }
    assert {path for path, mode in modes.items() if mode != (0o750 if path.is_dir() else 0o640)} == set()
    assert len(modes) > 40


@contextmanager
def somebody_else(folder):
    """Whom the rights of files bind: not the owner of the machine."""
    if os.getuid():
        yield
        return
    folder.chmod(0o755)
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.mark.parametrize(
    ("opened", "closed_off"),
    [
        (lambda: KnowledgeBase(Path("kb")), "kb"),
        (lambda: KnowledgeBase(Path("kb")), "kb/manifest.json"),
        (lambda: KnowledgeBase(Path("kb")), "kb/tokens"),
        (lambda: PassageIndex(Path("passages")), "passages"),
        (lambda: PassageIndex(Path("passages")), "passages/lines"),
        (lambda: FullText(Path("kb/names")), "kb/names"),
        (lambda: FullText(Path("kb/names")), "kb/names/meta.json"),
        (lambda: WikipediaDump(Path("wikipedia.db")), "wikipedia.db"),
    ],
)
def test_who_may_not_read_is_told_so_and_not_to_build_again(built, opened, closed_off):
    for path in [built, *built.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    Path(closed_off).chmod(0)
    with somebody_else(built):
        text = refused(IndexFileError, opened, "Permission denied", "ask its owner for the right to read it")
    assert "build" not in text and "retrieve index" not in text
    Path(closed_off).chmod(0o755)


@pytest.mark.parametrize("limit", [0, 100, 4_000, 30_000, 60_000])
def test_a_full_disk_is_one_line_and_leaves_nothing(workdir, corpus, start, limit):
    passages = corpus([(f"p{n}", " ".join(f"w{n * 37 % 911 + k}" for k in range(40))) for n in range(600)])
    process = start(FULL_DISK, limit, "retrieve", "index", passages, "--output", "index")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    (line,) = errors.splitlines()
    assert line.startswith("convinse: index: cannot be written: File too large")
    assert list(workdir.iterdir()) == []
