import os
from pathlib import Path

import pytest

from convinse.knowledge_base.index import KnowledgeBase
from convinse.passages.index import PassageIndex
from convinse.support.errors import IndexFileError
from convinse.support.full_text import FullText
from convinse.wikipedia.dump import WikipediaDump
from refusals import another_user, refused


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
