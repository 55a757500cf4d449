"""What the tests of all neighbours ask, and what the pipeline itself says."""

from convinse.config import parse_config
from convinse.pipeline import Pipeline

QUESTIONS = ["Who directed the film Titanic?", "When was J. R. R. Tolkien born?"]
ALL = 2000  # more evidences than a question has: BM25 counts words over what it is given, so all of them give its order again
SETTINGS = {
    "name": "integrations",
    "ha": "entity_voting",
    "evs": "bm25",
    "evs_max_evidences": ALL,
    "ers_use_cache": False,
}
SOURCES = "kb_text"


def native(questions=QUESTIONS):
    """The turns of questions that are asked one by one, by the pipeline as it is."""
    with Pipeline(parse_config(SETTINGS)) as pipeline:
        return [pipeline.ask([question], SOURCES)["questions"][0] for question in questions]


def texts(turn):
    return [evidence["evidence_text"] for evidence in turn["top_evidences"]]
