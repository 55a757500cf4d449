"""Questions that need one's own files and a knowledge base, in one conversation."""

import json
from pathlib import Path

import numpy as np
import pytest

from case_tables import each_case
from convinse.cli import main
from convinse.documents.names import DocumentNames
from convinse.records.evidence import Entity
from convinse.records.literals import FIRST_DOCUMENT_ITEM, is_document_item
from convinse.sources.joined import JoinedItems, JoinedPages
from convinse.wikipedia.pages import NoPages
from written import write

FILES = {
    "club/talks.md": """# Film club programme

## March evening

The March evening is introduced by Kate Winslet. It begins at 19:30 in the small hall.

## April evening

The April evening shows Avatar. Tickets cost 9 euros, members pay 6 euros.
""",
    "club/jobs.csv": "person,task,film\nInes Moreau,poster,Titanic\nPaul Adebayo,tickets,Avatar\nLena Brandt,projector,The Hobbit\n",
}  # fmt: skip


@pytest.fixture
def club(workdir):
    for path, text in FILES.items():
        write(path, text)
    return Path("club")


@each_case("joined", "conversation")
def test_a_conversation_goes_from_files_to_wikidata_and_back(club, capsys, case):
    questions = [turn["question"] for turn in case["conversation"]]
    assert main(["ask", "--over", "club", "--with-kb", "--json", "--quiet", *questions]) == 0
    turns = json.loads(capsys.readouterr().out)["questions"]
    for turn, expected in zip(turns, case["conversation"], strict=True):
        best = turn["pred_answers"][0]
        assert best["answer"]["label"] == expected["answer"], turn["question"]
        evidence = turn["top_evidences"][best["evidences"][0]]
        assert ("citation" in evidence) == (expected["source"] == "file"), evidence


def document_item(number):
    return f"F{FIRST_DOCUMENT_ITEM + number}"


def names(*labels):
    things = [(Entity(id=document_item(place), label=label), (label,)) for place, label in enumerate(labels)]
    return DocumentNames(things, "files")


def test_equal_names_stay_apart_and_an_id_tells_its_source(world_kb):
    joined = JoinedItems(world_kb, names("Titanic", "Harbour"))
    owners = [candidate.id for candidate in joined.candidates("titanic")]
    assert owners[0] == document_item(0) and "Q44578" in owners
    assert joined.label("Q44578") == joined.label(document_item(0)) == "Titanic"
    assert is_document_item(document_item(0)) and not is_document_item("Q44578")
    assert joined.types("Q44578") == world_kb.types("Q44578") and joined.types(document_item(0)) == ()
    assert joined.neighborhood("Q44578") == world_kb.neighborhood("Q44578") and not joined.neighborhood(
        document_item(1)
    )
    assert list(joined.properties()) == list(world_kb.properties()) and joined.counts() == world_kb.counts()
    assert not joined.has(document_item(7)) and joined.label(document_item(7)) == document_item(7)


class Found(NoPages):
    """Pages that find what they are told to, with vectors of a model."""

    def __init__(self, name, vectors_of, searches_words):
        self.name, self.vectors_of, self.searches_words = name, vectors_of, searches_words

    def search(self, words, limit):
        return [(f"{self.name} {' '.join(words)}", place) for place in range(limit)]

    def nearest(self, question, limit):
        return [(self.name, place) for place in range(limit)]

    def vectors(self, texts):
        stored = np.array([text == self.name for text in texts])
        return np.where(stored[:, None], np.ones((len(texts), 2), np.float32), np.float32(0)), stored


def test_both_sources_have_their_best_evidences_among_the_first():
    files, wikipedia = Found("files", "m", True), Found("wikipedia", "m", False)
    joined = JoinedPages(wikipedia, files)
    assert [item for item, _ in joined.nearest(np.zeros(2), 2)] == ["files", "wikipedia"] * 2
    assert [item for item, _ in joined.search(["a", "b"], 1)] == ["files a b"], "Wikipedia's words find nothing more"
    vectors, is_stored = joined.vectors(["wikipedia", "none", "files"])
    assert is_stored.tolist() == [True, False, True] and vectors.sum(axis=1).tolist() == [2, 0, 2]


def test_vectors_of_another_model_are_not_compared():
    joined = JoinedPages(Found("wikipedia", "other", False), Found("files", "m", True))
    assert joined.vectors_of == "m" and {item for item, _ in joined.nearest(np.zeros(2), 2)} == {"files"}
