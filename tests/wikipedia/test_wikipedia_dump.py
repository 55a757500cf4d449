import sqlite3
import threading

import pytest

from convinse.errors import DataError, IndexFileError
from convinse.wikipedia.dump import WikipediaDump, write_dump


def evidence(text, source="text"):
    return {
        "evidence_text": text,
        "source": source,
        "disambiguations": [["é", "Q1"]],
        "wikidata_entities": [{"id": "Q1", "label": "é"}],
    }


PAGES = [
    ("Q44578", [evidence("Titanic, A film."), evidence("Titanic, x, y", "info")]),
    ("Q1", []),
    ("Q25173", [evidence("Ship “ß”")]),
]


@pytest.fixture
def path(workdir):
    assert write_dump(workdir / "deep" / "wikipedia.db", PAGES) == 3
    return workdir / "deep" / "wikipedia.db"


def test_what_is_written_is_read(path):
    dump = WikipediaDump(path)
    assert [(item, dump.get(item)) for item, _ in PAGES] == PAGES
    assert dump.get("Q2") is None
    assert dump.items() == ["Q1", "Q25173", "Q44578"]
    assert len(dump) == 3
    dump.close()
    assert [file.name for file in path.parent.iterdir()] == ["wikipedia.db"]


def test_the_build_id_is_that_of_the_content(path, workdir):
    def build_id(pages):
        write_dump(workdir / "other.db", pages)
        dump = WikipediaDump(workdir / "other.db")
        dump.close()
        return dump.build_id

    first = WikipediaDump(path)
    assert build_id(PAGES) == first.build_id == build_id(iter(PAGES))
    changed = [PAGES[0], PAGES[1], ("Q25173", [evidence("Ship “ss”")])]
    others = {build_id(changed), build_id(PAGES[:2]), build_id([*PAGES[:2], ("Q25174", PAGES[2][1])])}
    assert len(others | {first.build_id}) == 4
    first.close()


def test_several_threads_may_read(path):
    dump = WikipediaDump(path)
    found = []
    threads = [threading.Thread(target=lambda: found.append(dump.get("Q44578"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [PAGES[0][1]] * 4
    dump.close()


def test_a_missing_dump_is_a_clear_error(workdir):
    with pytest.raises(IndexFileError, match=r"nowhere\.db.*ers_wikipedia_dump"):
        WikipediaDump(workdir / "nowhere.db")
    assert list(workdir.iterdir()) == []


@pytest.mark.parametrize(
    "content", [b"", b"no database at all, only text " * 40, b"SQLite format 3\x00" + b"\x00" * 200]
)
def test_what_is_no_dump_is_a_clear_error(workdir, content):
    (workdir / "x.db").write_bytes(content)
    with pytest.raises(IndexFileError, match=r"x\.db.*build it again"):
        WikipediaDump(workdir / "x.db")


def test_a_database_without_our_tables_is_a_clear_error(workdir):
    connection = sqlite3.connect(workdir / "x.db")
    connection.execute("CREATE TABLE other (a)")
    connection.close()
    with pytest.raises(IndexFileError, match="build it again"):
        WikipediaDump(workdir / "x.db")


def test_another_format_is_a_clear_error(path):
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    connection.close()
    with pytest.raises(IndexFileError, match="format 99"):
        WikipediaDump(path)


def test_a_damaged_page_is_a_clear_error(path):
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE page SET evidences = x'00ff' WHERE id = 'Q1'")
    connection.close()
    dump = WikipediaDump(path)
    with pytest.raises(IndexFileError, match="damaged at Q1"):
        dump.get("Q1")
    assert dump.get("Q44578") == PAGES[0][1]
    dump.close()


@pytest.mark.parametrize("problem", [KeyboardInterrupt, DataError])
def test_an_interrupted_build_leaves_the_older_dump_and_nothing_else(path, problem):
    def pages():
        yield "Q7", []
        raise problem("stop")

    with pytest.raises(problem):
        write_dump(path, pages())
    dump = WikipediaDump(path)
    assert dump.get("Q44578") == PAGES[0][1]
    assert dump.get("Q7") is None
    dump.close()
    assert [file.name for file in path.parent.iterdir()] == ["wikipedia.db"]
