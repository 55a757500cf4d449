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


def test_all_that_is_built_has_the_rights_of_the_umask(workdir, corpus):
    before = os.umask(0o027)
    try:
        build(write_documents(workdir / "dump.json", world()), workdir / "kb")
        build_index(corpus([("a", "one two")]), workdir / "passages", quiet=True)
        write_dump(workdir / "wikipedia.db", [("Q1", [evidence("seven", "text", ("seven", "Q7"))])])
    finally:
        os.umask(before)
    modes = {
        path: stat.S_IMODE(path.stat().st_mode)
        for name in ("kb", "passages", "wikipedia.db")
        for path in [workdir / name, *(workdir / name).rglob("*")]
    }
    assert {path for path, mode in modes.items() if mode != (0o750 if path.is_dir() else 0o640)} == set()
    assert len(modes) > 40


@contextmanager
def another_user(folder):
    """A user whom the rights of files bind: not the owner of the machine."""
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
def test_missing_right_to_read_is_named_and_no_rebuild_advised(own_world, opened, closed_off):
    os.chdir(own_world)
    for path in [own_world, *own_world.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    Path(closed_off).chmod(0)
    with another_user(own_world):
        text = refused(IndexFileError, opened, "Permission denied", "ask its owner for the right to read it")
    assert "build" not in text and "retrieve index" not in text
    Path(closed_off).chmod(0o755)
