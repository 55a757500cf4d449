import random
import re
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from case_tables import slow_but
from convinse.support.errors import IndexFileError
from convinse.wikipedia.dump import WikipediaDump, write_dump
from convinse.wikipedia.stored_pages import Embedding, search_words
from evidences import evidence
from written import names


def said(text, source="text"):
    return evidence(text, source, ("é", "Q1"))


PAGES = [
    ("Q44578", [said("Titanic, A film."), said("Titanic, x, y", "info")]),
    ("Q1", []),
    ("Q25173", [said("Ship “ß”")]),
]


@pytest.fixture
def path(workdir):
    assert write_dump(workdir / "deep" / "wikipedia.db", PAGES) == 3
    return workdir / "deep" / "wikipedia.db"


def test_what_is_written_is_read(path):
    with closing(WikipediaDump(path)) as dump:
        assert [(item, dump.get(item)) for item, _ in PAGES] == PAGES
        assert dump.get("Q2") is None
        assert dump.items() == ["Q1", "Q25173", "Q44578"]
        assert len(dump) == 3
    assert names(path.parent) == ["wikipedia.db"]


def found(dump, question, limit=5):
    return list(map(tuple, dump.search(search_words(question), limit)))


def test_evidences_are_found_by_their_vectors(workdir):
    texts = {"north": [0.0, 1.0, 0.0], "east": [1.0, 0.1, 0.0], "up": [0.0, 0.0, -1.0]}
    embedding = Embedding("model", 3, "plain", lambda batch: np.array([texts[text] for text in batch], np.float32))
    write_dump(workdir / "w.db", [("Q1", [said("north"), said("up")]), ("Q2", []), ("Q3", [said("east")])], embedding)
    with closing(WikipediaDump(workdir / "w.db")) as dump:
        assert (dump.vectors_of, dump.dimension) == ("model", 3)
        nearest = dump.nearest(np.array([0.3, 0.9, 0.1], np.float32), 2)
        assert list(map(tuple, nearest)) == [("Q1", 0), ("Q3", 0)]
        assert dump.get("Q1")[nearest[0][1]]["evidence_text"] == "north"
        vectors, is_stored = dump.vectors(["up", "down", "east"])
        assert is_stored.tolist() == [True, False, True]
        assert np.allclose(vectors, [texts["up"], [0.0, 0.0, 0.0], texts["east"]], atol=0.01)


def test_evidences_are_found_by_their_words(workdir):
    texts = {
        "Q1": "Émile Zola wrote Nana. Émile!",
        "Q2": "Zola, a town of Emile",
        "Q3": "nothing of that",
        "Q4": "Nana Zola",
        "Q9": "The function set_up.",
    }
    write_dump(workdir / "w.db", [(item, [said(text), said("more")]) for item, text in texts.items()])
    with closing(WikipediaDump(workdir / "w.db")) as dump:
        assert found(dump, "émile ZOLA's") == [("Q1", 0), ("Q2", 0), ("Q4", 0)]  # the best first, each with its place
        assert found(dump, "Nana, Zola") == [("Q4", 0), ("Q1", 0), ("Q2", 0)]  # by BM25: it is the shortest with both
        assert found(dump, "Emile, Zola", limit=1) == [("Q1", 0)] and found(dump, "Towns?") == [("Q2", 0)]
        assert found(dump, "more", limit=9) == [("Q1", 1), ("Q2", 1), ("Q3", 1), ("Q4", 1), ("Q9", 1)]
        for question in ("What does set_up do?", '"set"', "set* OR (up)"):  # any signs
            assert found(dump, question) == [("Q9", 0)]
        assert found(dump, "x_y_z") == found(dump, "it's ’s _") == []
        assert found(dump, "") == found(dump, '"?') == found(dump, "Balzac") == []
        assert dump.nearest(np.ones(3, np.float32), 5) == []  # it has no vectors
        assert not dump.vectors(["more"])[1].any()


def open_id(path):
    with closing(WikipediaDump(path)) as dump:
        return dump.build_id


def test_the_build_id_is_that_of_the_content(path, workdir):
    def build_id(pages):
        write_dump(workdir / "other.db", pages)
        return open_id(workdir / "other.db")

    assert build_id(PAGES) == open_id(path) == build_id(iter(PAGES))
    changed = [PAGES[0], PAGES[1], ("Q25173", [said("Ship “ss”")])]
    others = {build_id(changed), build_id(PAGES[:2]), build_id([*PAGES[:2], ("Q25174", PAGES[2][1])])}
    assert len(others | {open_id(path)}) == 4


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("DROP TABLE meta", "not a Wikipedia dump"),
        ("UPDATE meta SET value = '5' WHERE key = 'format'", "format 5, this"),
    ],
)
def test_a_file_of_another_kind_or_format_is_a_clear_error(path, statement, fault):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
    with pytest.raises(IndexFileError, match=rf"wikipedia\.db: {fault}.*build it again"):
        WikipediaDump(path)


MANY = [
    (f"Q{number}", [said(f"Page {number}, {'words ' * (number % 40)}{number * 7919}.")]) for number in range(1, 3000)
]


@pytest.fixture(scope="module")
def several_blocks(tmp_path_factory):
    path = tmp_path_factory.mktemp("dump") / "wikipedia.db"
    write_dump(path, MANY)
    assert path.stat().st_size > 4 << 16
    return path


def stored(path):
    """All that SQLite keeps in a file."""
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_a_dump_that_was_cut_off_is_refused(several_blocks, workdir):
    data = several_blocks.read_bytes()
    for size in (len(data) - 1, *(int(len(data) * share) for share in (0.3, 0.7, 0.99))):
        (workdir / "w.db").write_bytes(data[:size])
        with pytest.raises(IndexFileError, match=r"w\.db.*build it again"):
            WikipediaDump(workdir / "w.db")


@pytest.mark.parametrize("times", slow_but([10], [10, 40]))
def test_any_damage_of_what_a_dump_keeps_is_found(several_blocks, workdir, times):
    data, whole, path = several_blocks.read_bytes(), stored(several_blocks), workdir / "w.db"
    rng, found = random.Random(1), 0
    for place in rng.choices(range(len(data)), k=times):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :])
        try:
            with closing(WikipediaDump(path)) as dump:
                dump.verify()
        except IndexFileError as error:
            assert re.search(r"w\.db.*build it again", str(error))
            found += 1
        else:
            assert stored(path) == whole, place  # the bit belongs to nothing
    assert found > times * 3 // 4
