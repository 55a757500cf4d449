from contextlib import closing

import pytest

from convinse.knowledge_base.index import KnowledgeBase
from convinse.wikipedia.dump import WikipediaDump
from places import SNAPSHOT


@pytest.fixture(scope="module")
def kb():
    with closing(KnowledgeBase(SNAPSHOT / "kb")) as opened:
        yield opened


@pytest.fixture(scope="module")
def dump():
    with closing(WikipediaDump(SNAPSHOT / "wikipedia.db")) as opened:
        yield opened
