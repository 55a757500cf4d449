import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from convinse.support.errors import DataError, IndexFileError, OutputError
from convinse.wikipedia.dump import DumpWriter, WikipediaDump, write_dump
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


def test_the_build_id_is_that_of_the_content(path, workdir):
    def build_id(pages):
        write_dump(workdir / "other.db", pages)
        return open_id(workdir / "other.db")

    assert build_id(PAGES) == open_id(path) == build_id(iter(PAGES))
    changed = [PAGES[0], PAGES[1], ("Q25173", [said("Ship “ss”")])]
    others = {build_id(changed), build_id(PAGES[:2]), build_id([*PAGES[:2], ("Q25174", PAGES[2][1])])}
    assert len(others | {open_id(path)}) == 4


def test_several_threads_may_read(path):
    with closing(WikipediaDump(path)) as dump, ThreadPoolExecutor(4) as pool:
        assert list(pool.map(dump.get, ["Q44578"] * 4)) == [PAGES[0][1]] * 4


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
    execute(workdir / "x.db", "CREATE TABLE other (a)")
    with pytest.raises(IndexFileError, match="build it again"):
        WikipediaDump(workdir / "x.db")


def execute(path, statement):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def test_another_format_is_a_clear_error(path):
    execute(path, "UPDATE meta SET value = '99' WHERE key = 'format'")
    with pytest.raises(IndexFileError, match="format 99"):
        WikipediaDump(path)


def test_a_damaged_page_is_a_clear_error(path):
    execute(path, "UPDATE page SET evidences = x'00ff' WHERE id = 'Q1'")
    with closing(WikipediaDump(path)) as dump:
        with pytest.raises(IndexFileError, match="damaged at Q1"):
            dump.get("Q1")
        assert dump.get("Q44578") == PAGES[0][1]


@pytest.mark.parametrize("problem", [KeyboardInterrupt, DataError])
def test_an_interrupted_build_leaves_the_older_dump_and_nothing_else(path, problem):
    def pages():
        yield "Q7", []
        raise problem("stop")

    with pytest.raises(problem):
        write_dump(path, pages())
    with closing(WikipediaDump(path)) as dump:
        assert dump.get("Q44578") == PAGES[0][1]
        assert dump.get("Q7") is None
    assert names(path.parent) == ["wikipedia.db"]


def open_id(path):
    with closing(WikipediaDump(path)) as dump:
        return dump.build_id


def test_a_writer_makes_and_extends_what_others_read(path, workdir):
    new = workdir / "new" / "w.db"
    reader = WikipediaDump(path)
    first = reader.build_id
    with DumpWriter(new) as writer, DumpWriter(path) as appender:
        appender.put("Q7", [said("Seven")])
        assert reader.get("Q7") == [said("Seven")] and len(reader) == 4
        assert reader.build_id != first and reader.counts == {"info": 1, "pages": 4, "text": 3}
        appender.put("Q7", [said("Eight", "table")])
        assert reader.get("Q7") == [said("Eight", "table")]
        counts = {key: value for key, value in reader.counts.items() if value}
        assert counts == {"info": 1, "pages": 4, "table": 1, "text": 2}
        appended = reader.build_id
        for item, evidences in reversed([*PAGES, ("Q7", [said("Eight", "table")])]):
            writer.put(item, evidences)
    assert open_id(new) == appended == reader.build_id  # of the content, in whatever order it came
    reader.close()
    assert names(new.parent) == ["w.db"]
    with DumpWriter(path):
        pass
    assert names(path.parent) == ["wikipedia.db"]
    assert open_id(path) == appended


@pytest.mark.parametrize("content", [b"text, no database " * 90, b"SQLite format 3\x00" + b"\x00" * 200])
def test_a_writer_leaves_foreign_files_alone(path, workdir, content):
    (workdir / "x.db").write_bytes(content)
    with pytest.raises(IndexFileError, match=r"x\.db"):
        DumpWriter(workdir / "x.db")
    assert (workdir / "x.db").read_bytes() == content
    if content.startswith(b"text"):
        with pytest.raises(OutputError, match="no Wikipedia dump"):
            write_dump(workdir / "x.db", PAGES)
    sqlite3.connect(workdir / "y.db").execute("CREATE TABLE other (a)").connection.close()
    with pytest.raises(IndexFileError, match=r"y\.db"):
        DumpWriter(workdir / "y.db")
    with pytest.raises(OutputError, match="no file"):
        DumpWriter(workdir)


@pytest.mark.parametrize("cut", [0.3, 0.7, 0.99, -1])
def test_a_truncated_dump_is_a_clear_error(workdir, cut):
    path = workdir / "w.db"
    write_dump(path, [(f"Q{n}", [said(f"Text {n} {n * n}")]) for n in range(1, 500)])
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * cut)] if cut > 0 else data[:-1])
    with pytest.raises(IndexFileError, match=r"w\.db.*build it again"):
        WikipediaDump(path)


READ = """
import sys, time
from pathlib import Path
from convinse.wikipedia.dump import WikipediaDump
dump, most, ids = WikipediaDump(Path(sys.argv[1])), 0, set()
print("ready", flush=True)
end = time.monotonic() + 20
while most < int(sys.argv[2]) and time.monotonic() < end:
    found = len(dump)
    assert found >= most
    most = found
    ids.add(dump.build_id)
    for n in range(most):
        assert dump.get(f"Q{n + 1}") is not None
assert len(ids) > 1
print(most)
"""
WRITE = """
import sys
from pathlib import Path
from convinse.wikipedia.dump import DumpWriter
with DumpWriter(Path(sys.argv[1])) as writer:
    for n in range(int(sys.argv[2]), int(sys.argv[3])):
        writer.put(f"Q{n}", [{"evidence_text": f"Text {n} " * 50, "source": "text", "disambiguations": [],
                              "wikidata_entities": []}])
        print(n, flush=True)
"""


def test_two_processes_read_while_one_appends(start, workdir):
    path = workdir / "w.db"
    write_dump(path, [("Q1", [])])
    readers = [start(READ, path, 300) for _ in range(2)]
    assert [reader.stdout.readline() for reader in readers] == ["ready\n"] * 2
    writer = start(WRITE, path, 2, 301)
    assert "300" in writer.communicate(timeout=30)[0]
    for reader in readers:
        output, errors = reader.communicate(timeout=30)
        assert (output, errors) == ("300\n", "")


def test_two_writers_take_turns(start, workdir):
    path = workdir / "w.db"
    writers = [start(WRITE, path, first, first + 100) for first in (1, 101)]
    for writer in writers:
        assert writer.communicate(timeout=30)[1] == ""
    dump = WikipediaDump(path)
    assert len(dump) == dump.counts["pages"] == 200
    write_dump(workdir / "same.db", [(item, dump.get(item)) for item in dump.items()])
    assert open_id(workdir / "same.db") == dump.build_id
    dump.close()


def test_a_killed_writer_loses_nothing_that_was_put(start, workdir):
    path = workdir / "w.db"
    for first in (1, 10001):
        writer = start(WRITE, path, first, first + 9999)
        last = [int(writer.stdout.readline()) for _ in range(40)][-1]
        writer.kill()
        rest = writer.stdout.read().split()  # communicate() would lose what is buffered
        last = int(rest[-1]) if rest else last
        dump = WikipediaDump(path)
        assert all(dump.get(f"Q{n}") for n in range(first, last + 1))
        assert dump.get(f"Q{last + 2}") is None
        assert len(dump) == dump.counts["pages"]
        dump.close()
    write_dump(path, PAGES)  # a log that was left is not read with the new file
    dump = WikipediaDump(path)
    assert dump.items() == ["Q1", "Q25173", "Q44578"]
    dump.close()
    assert [file.name for file in workdir.iterdir()] == ["w.db"]


def test_a_writer_that_was_killed_while_it_made_the_file(workdir):
    path = workdir / "w.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.close()
    with pytest.raises(IndexFileError, match="build it again"):
        WikipediaDump(path)
    with DumpWriter(path) as writer:
        writer.put("Q1", [])
    assert open_id(path)


def test_opening_and_reading_are_fast(workdir):
    """In processor time, which a busy machine does not change."""
    path = workdir / "w.db"
    page = [said(f"Sentence {n} of a long page, with some more words in it.") for n in range(300)]
    write_dump(path, ((f"Q{n}", page if n % 50 == 0 else page[:1]) for n in range(1, 5000)))
    start = time.process_time()
    with closing(WikipediaDump(path)) as dump:
        assert time.process_time() - start < 0.05
        start = time.process_time()
        for n in range(50, 5000, 50):
            dump.get(f"Q{n}")
        assert time.process_time() - start < 0.2  # 2 ms each
