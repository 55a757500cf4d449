import random
import re
import shutil
from contextlib import closing

import pytest

from convinse.cli import main
from convinse.formats.run_folder import RunFolder, with_line
from convinse.passages.build import build_index
from convinse.support.cache import Cache
from convinse.support.vectors import VectorCache
from damaging import flip
from places import SNAPSHOT

FLIPS = 6  # of each file


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    for name in ("kb", "voting", "answers"):
        shutil.copytree(SNAPSHOT / name, folder / name)
    shutil.copy(SNAPSHOT / "wikipedia.db", folder)
    (folder / "passages.jl").write_text('{"id": "1", "text": "a b"}\n')
    build_index(folder / "passages.jl", folder / "passages")
    with RunFolder(folder / "results", {"settings": "id"}) as output:
        output.add(*with_line({"conv_id": "1", "questions": []}))
        output.write_metrics({"num_questions": 0})
    with closing(Cache(folder / "cache")) as cache:
        cache.put("kind", value=["long" * 3000])
        VectorCache(cache, "model", 3).put(["a", "b"], [[1, 2, 3]] * 2)
    return folder


def verified(path, capsys):
    status = main(["verify", str(path)])
    output = capsys.readouterr()
    return status, output.out.splitlines(), output.err


def test_undamaged_files_are_ok(built, capsys):
    status, lines, errors = verified(built, capsys)
    assert (status, errors) == (0, "")
    assert all(line.endswith(": ok") for line in lines)
    names = {line.removeprefix(f"{built}/").removesuffix(": ok") for line in lines}
    assert names >= {"kb/tokens", "kb/manifest.json", "wikipedia.db", "passages/row_term", "results/turns.jsonl"}
    assert names >= {
        "results/metrics.json",
        "voting/answers.json",
        "answers/answers.json",
        "cache/v4/cache.db",
        "cache/v4/entries/cache.db",
    }


@pytest.mark.parametrize("kind", ["kb", "passages", "results", "voting", "answers"])
def test_a_flipped_bit_in_any_byte_of_any_file_is_found(built, capsys, kind):
    status, lines, _ = verified(built / kind, capsys)
    rng = random.Random(kind)
    for path in [(built / line.removesuffix(": ok")) for line in lines]:
        for place in rng.choices(range(path.stat().st_size), k=FLIPS) if path.stat().st_size else ():
            bit = rng.randrange(8)
            flip(path, place, bit)
            status, lines, errors = verified(built / kind, capsys)
            more = ".*\n" if path.name == "manifest.json" else "\n"  # what it says of others may be wrong now
            assert status == 1 and re.fullmatch(rf"convinse: {re.escape(str(path))}: damaged{more}", errors), place
            assert [line for line in lines if not line.endswith(": ok")][0].startswith(f"{path}: ")
            flip(path, place, bit)


@pytest.mark.parametrize(
    ("name", "zlib", "folder", "words"),
    [
        ("wikipedia.db", b"\x78\x9c", "wikipedia.db", "build it again"),
        (
            "cache/v4/entries/cache.db",
            b"\x78\x5e",
            "cache/v4/entries",
            "1 entries are damaged; they are made again when they are needed",
        ),
    ],
)
def test_damage_of_a_packed_entry_is_found(built, capsys, name, zlib, folder, words):
    path = built / name
    place = path.read_bytes().rindex(zlib) + 20
    flip(path, place)
    status, (line,), errors = verified(built / folder, capsys)
    assert (status, errors) == (1, f"convinse: {path}: damaged\n")
    assert line.startswith(f"{path}: ") and line.endswith(words)
    flip(path, place)


def test_all_damaged_files_are_counted(built, capsys):
    copy = shutil.copytree(built / "kb", built.parent / "copy")
    (copy / "items").unlink()
    (copy / "text").write_bytes(b"")
    status, lines, errors = verified(copy, capsys)
    assert status == 1 and errors == f"convinse: {copy}/items: damaged, and 1 more\n"
    assert any("items: cannot be read" in line for line in lines) and any(
        "text: 0 bytes where" in line for line in lines
    )


def test_files_without_checksums_are_named(built, capsys):
    copy = shutil.copytree(built / "results", built.parent / "unfinished")
    (copy / "manifest.json").unlink()
    status, lines, _ = verified(copy, capsys)
    assert status == 0 and len(lines) == 1 and "turns.jsonl: has no checksums" in lines[0]
