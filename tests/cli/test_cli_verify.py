"""`verify`: a line for each file, and the damaged one named at the end."""

import shutil
from contextlib import closing

import pytest

from convinse.cli import main
from convinse.formats.run_folder import FinishedConversation, RunFolder
from convinse.passages.build import build_index
from convinse.support.cache import Cache
from convinse.support.vectors import VectorCache
from damaging import flip
from places import SNAPSHOT


@pytest.fixture
def built(tmp_path):
    """One of each format in a folder."""
    for name in ("kb", "history", "answers"):
        shutil.copytree(SNAPSHOT / name, tmp_path / name)
    shutil.copy(SNAPSHOT / "wikipedia.db", tmp_path)
    (tmp_path / "passages.jl").write_text('{"id": "1", "text": "a b"}\n')
    build_index(tmp_path / "passages.jl", tmp_path / "passages")
    with RunFolder(tmp_path / "results", {"settings": "id"}) as output:
        output.add(FinishedConversation.of({"conv_id": "1", "questions": []}))
        output.write_metrics({"num_questions": 0})
    with closing(Cache(tmp_path / "cache")) as cache:
        cache.put("kind", value=[1])
    for precision in ("float16", "float32"):
        with closing(VectorCache(Cache(tmp_path / "cache"), "model", 3, precision=precision)) as vectors:
            vectors.put(["a", "b"], [[1, 2, 3]] * 2)
    return tmp_path


def verified(path, capsys):
    """The exit status, the lines of standard output, and standard error."""
    status = main(["verify", str(path)])
    output = capsys.readouterr()
    return status, output.out.splitlines(), output.err


def test_what_is_whole_is_ok(built, capsys):
    status, lines, errors = verified(built, capsys)
    assert (status, errors) == (0, "")
    assert all(line.endswith(": ok") for line in lines)
    names = {line.removeprefix(f"{built}/").removesuffix(": ok") for line in lines}
    assert names >= {"kb/tokens", "kb/manifest.json", "wikipedia.db", "passages/row_term", "results/turns.jsonl"}
    assert names >= {"results/metrics.json", "history/history.json", "answers/answers.json", "cache/entries/cache.db"}
    assert len([name for name in names if name.endswith(".vectors")]) == 2


@pytest.mark.parametrize(
    "name",
    ["kb/text", "kb/names/*.pos", "kb/checksums", "kb/manifest.json", "wikipedia.db", "passages/lines",
     "passages/candidates/*.store", "passages/candidates/.managed.json", "results/turns.jsonl", "results/metrics.json",
     "results/run.json", "results/checksums.json", "history/history.json", "cache/vectors/*.vectors"],
)  # fmt: skip
def test_a_flipped_bit_is_named(built, capsys, name):
    path = next(built.glob(name))
    flip(path, bit=1)
    status, lines, errors = verified(built, capsys)
    assert (status, errors) == (1, f"convinse: {path}: damaged\n")
    assert [line for line in lines if not line.endswith(": ok")] == [
        line for line in lines if line.startswith(f"{path}: ")
    ]


def test_a_file_may_be_named_and_all_damaged_ones_are_counted(built, capsys):
    status, lines, _ = verified(built / "wikipedia.db", capsys)
    assert (status, lines) == (0, [f"{built}/wikipedia.db: ok"])
    (built / "kb/items").unlink()
    (built / "kb/text").write_bytes(b"")
    status, lines, errors = verified(built / "kb", capsys)
    assert status == 1 and errors == f"convinse: {built}/kb/items: damaged, and 1 more\n"
    assert any("items: cannot be read" in line for line in lines) and any(
        "text: 0 bytes where" in line for line in lines
    )


def test_what_has_no_checksums_is_said_to_have_none(built, capsys):
    (built / "results/checksums.json").unlink()
    status, lines, _ = verified(built / "results", capsys)
    assert status == 0 and len(lines) == 1 and "turns.jsonl: has no checksums" in lines[0]
    dump = built / "wikipedia.db"
    dump.write_bytes(dump.read_bytes()[:749568])  # as an earlier version wrote it
    assert verified(dump, capsys)[:2] == (0, [f"{dump}: ok"])


def test_what_it_does_not_know_is_one_line(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert verified(tmp_path / "empty", capsys)[0] == 1
    status, _, errors = verified(tmp_path / "nowhere", capsys)
    assert status == 1 and errors == f"convinse: {tmp_path}/nowhere: no such file or folder\n"
    (tmp_path / "text.txt").write_text("no dump")
    status, lines, errors = verified(tmp_path / "text.txt", capsys)
    assert status == 1 and "not a Wikipedia dump" in lines[0]
