"""What `bench pipeline` runs in processes of their own: this module loads no more than a command that opens an index."""

import statistics
from pathlib import Path

from convinse.config import ClocqParams
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.search_space import SearchSpace

from .harness import Figures
from .timing import percentile, timed


def open_index(index: str) -> list[float]:
    """Milliseconds of opening in a new process (which loads numpy, too), of the first search, of opening again."""
    opened, kb = timed(lambda: KnowledgeBase(Path(index)))
    searched, _ = timed(lambda: SearchSpace(kb, ClocqParams(), 1000).search("Who directed Titanic?"))
    again, _ = timed(lambda: KnowledgeBase(Path(index)))
    return [1000 * seconds for seconds in (opened, searched, again)]


def build_index(dump: str, index: str, memory: int) -> None:
    from convinse.knowledge_base.build import build

    build(Path(dump), Path(index), memory=memory, quiet=True)


def search_all(index: str, questions: list[str]) -> Figures:
    kb = KnowledgeBase(Path(index))
    space = SearchSpace(kb, ClocqParams(), 1000)
    space.search(questions[0])
    milliseconds = [1000 * timed(lambda question=question: space.search(question))[0] for question in questions]
    return {
        "items": kb.manifest.items, "facts": kb.manifest.facts, "questions": len(questions),
        "search_median_ms": statistics.median(milliseconds), "search_p95_ms": percentile(milliseconds, 0.95),
    }  # fmt: skip
