import pytest
from handmade import world, write

from convinse.knowledge_base.build import build
from convinse.knowledge_base.index import KnowledgeBase


@pytest.fixture(scope="session")
def world_index(tmp_path_factory):
    """The folder of the index of `handmade.world()`; not to be written to."""
    folder = tmp_path_factory.mktemp("world")
    build(write(folder / "dump.json", world()), folder / "kb")
    return folder / "kb"


@pytest.fixture
def world_kb(world_index):
    kb = KnowledgeBase(world_index)
    yield kb
    kb.close()
