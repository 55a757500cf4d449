import hashlib
import os
import random
import signal
import stat
import time
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.support.errors import CacheError
from convinse.support.vector_cache import VectorCache
from refusals import refused

SIZE = 32  # bytes of a record of 3 numbers: 16 + 6 + 4, and 6 zeros
NUMBERS = st.floats(-65000, 65000, width=32) | st.floats(width=16, allow_nan=False, allow_infinity=False)
ROWS = st.dictionaries(st.text(max_size=8), st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=8)
WRITER = """
import sys
import numpy as np
from convinse.support.vector_cache import VectorCache
cache = VectorCache("cache", "model", 384)
name, start, batch, rounds = sys.argv[1], *map(int, sys.argv[2:])
print("ready", flush=True)
sys.stdin.readline()
for first in range(start, start + batch * rounds, batch):
    numbers = np.arange(first, first + batch)
    cache.put([f"{name} {n}" for n in numbers], np.repeat(numbers[:, None] % 2048, 384, axis=1).astype(np.float32))
    cache.put([f"shared {n}" for n in numbers], np.repeat(numbers[:, None] % 2048, 384, axis=1).astype(np.float32))
    print(first, flush=True)
"""


@pytest.fixture
def cache(workdir, closed):
    return closed(VectorCache(workdir / "cache", "model", 3))


def again(workdir, dimension=3):
    """Another object on the file, as another process has it."""
    return closing(VectorCache(workdir / "cache", "model", dimension))


def file(workdir):
    (path,) = (workdir / "cache" / "vectors").iterdir()
    return path


def rows(*numbers):
    return np.array([[number, -number, number / 4] for number in numbers], np.float32)


def known(cache, *texts):
    return cache.get(texts)[1].tolist()


# --- vectors in, vectors out


@given(st.lists(ROWS, max_size=4), st.sampled_from(["float16", "float32", "float64"]), st.booleans())
def test_what_was_put_comes_back_in_half_precision(tmp_path_factory, puts, kind, on_disk):
    path = tmp_path_factory.mktemp("vectors") if on_disk else None
    expected = {}
    with closing(VectorCache(path, "model", 3)) as cache:
        for part in puts:
            cache.put(list(part), np.array([*part.values()], kind).reshape(-1, 3))
            for text, vector in part.items():
                expected.setdefault(text, vector)  # what is known stays
            texts = ["never put, and too long", *expected, *reversed(expected)]
            vectors, mask = cache.get(texts)
            assert vectors.dtype == np.float16
            assert vectors.shape == (len(texts), 3)
            assert mask.tolist() == [False] + [True] * 2 * len(expected)
            wanted = np.array([(0, 0, 0), *expected.values(), *reversed(expected.values())], "f2")
            assert vectors.tobytes() == wanted.tobytes()
            assert len(cache) == len(expected)
        if on_disk:
            cache.close()
            assert cache.get(list(expected))[0].tobytes() == np.array([*expected.values()], "f2").tobytes()


@pytest.mark.parametrize("on_disk", [True, False])
def test_single_precision_comes_back_as_it_was_put_and_apart_from_half(workdir, closed, on_disk):
    path = workdir / "cache" if on_disk else None
    half, single = (closed(VectorCache(path, "model", 3, precision=kind)) for kind in ("float16", "float32"))
    exact = np.array([[1 / 3, 1e-30, 1e30]], np.float32)
    single.put(["a"], exact)
    half.put(["a", "b"], rows(1, 2))
    assert single.get(["a"])[0].dtype == np.float32 and single.get(["a"])[0].tobytes() == exact.tobytes()
    assert known(single, "b", "a") == [False, True] and (half.get(["a"])[0] == rows(1)).all()
    refused(CacheError, lambda: single.put(["c"], np.array([[1, 2, np.inf]])), "'c' is not finite in float32")
    if on_disk:
        single.close()
        assert single.get(["a"])[0].tobytes() == exact.tobytes()


def test_the_first_of_equal_texts_in_one_call_counts(cache):
    cache.put(["a", "b", "a"], rows(1, 2, 3))
    assert len(cache) == 2
    assert (cache.get(["a", "b", "a"])[0] == rows(1, 2, 1)).all()


def test_what_is_known_is_not_written_again(cache, workdir):
    cache.put(["a", "b"], rows(1, 2))
    before = file(workdir).read_bytes()
    cache.put(["b", "a"], rows(3, 4))
    assert file(workdir).read_bytes() == before
    cache.put(["b", "c"], rows(3, 4))
    assert (cache.get(["a", "b", "c"])[0] == rows(1, 2, 4)).all()
    assert len(cache) == 3


@pytest.mark.parametrize("path", [None, "cache"])
def test_no_texts(path):
    with closing(VectorCache(path, "model", 3)) as cache:
        for texts in ([], ["a"], []):
            assert [(part.shape, part.dtype) for part in cache.get([])] == [((0, 3), np.float16), ((0,), bool)]
            before = len(cache)
            cache.put(texts, np.ones((len(texts), 3)))
            assert len(cache) == before + len(texts) and cache


def test_results_are_the_callers_own(cache):
    cache.put(["a"], rows(1))
    vectors, mask = cache.get(["a"])
    vectors[:] = 7
    mask[:] = False
    assert (cache.get(["a"])[0] == rows(1)).all()


def test_texts_of_any_characters_are_told_apart(cache):
    texts = ["", " ", "é", "e\u0301", "\0", "\0\0", "\ud800", "x" * 100_000, "x" * 100_001]
    cache.put(texts, rows(*range(len(texts))))
    assert (cache.get(texts)[0] == rows(*range(len(texts)))).all()


@pytest.mark.parametrize("shape", [(1, 3), (2, 2), (2,), (6,), (2, 3, 1)])
def test_vectors_of_another_shape_are_refused(cache, shape):
    with pytest.raises(ValueError, match="2 texts"):
        cache.put(["a", "b"], np.zeros(shape, np.float32))
    assert known(cache, "a", "b") == [False, False]


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e6])
def test_a_vector_that_is_not_finite_is_refused_by_its_text(cache, value):
    vectors = rows(1, 2)
    vectors[1, 2] = value
    refused(CacheError, lambda: cache.put(["the first", "the second"], vectors), "'the second'")
    assert known(cache, "the first", "the second") == [False, False]


def test_many_puts_of_all_sizes_stay_in_order(cache, workdir):
    rng = random.Random(5)
    done = 0
    for _ in range(60):
        more = rng.choice([1, 1, 1, 7, 300])
        cache.put([f"text {number}" for number in range(done, done + more)], rows(*range(done, done + more)))
        done += more
    texts = [f"text {number}" for number in range(done)]
    with again(workdir) as other:
        for one in (cache, other):
            vectors, mask = one.get(texts)
            assert mask.all()
            assert (vectors == rows(*range(done)).astype(np.float16)).all()


# --- the file


def test_making_a_cache_touches_no_disk_and_reading_makes_no_file(workdir):
    with closing(VectorCache("cache", "model", 3)) as cache:
        assert list(workdir.iterdir()) == []
        assert known(cache, "a") == [False]
        assert len(cache) == 0
        assert list(workdir.iterdir()) == []


def test_without_a_path_the_vectors_live_with_the_object(workdir):
    with closing(VectorCache(None, "model", 3)) as cache, closing(VectorCache(None, "model", 3)) as other:
        cache.put(["a"], rows(1))
        assert known(cache, "a", "b") == [True, False]
        assert known(other, "a") == [False]
        cache.close()
        assert known(cache, "a") == [False]
    assert list(workdir.iterdir()) == []


def test_in_memory_those_used_longest_ago_make_place():
    with closing(VectorCache(None, "model", 3, 10)) as cache:
        for number in range(35):
            cache.put([str(number)], rows(number))
            assert (cache.get(["0", str(number)])[0] == rows(0, number)).all()
        assert len(cache) == 10
        assert known(cache, "0", "25", "26", "34") == [True, False, True, True]
        cache.put(["26", "new"], rows(1, 2))  # a known one keeps its vector, and stays for longer
        assert (cache.get(["26", "new"])[0] == rows(26, 2)).all()
        assert known(cache, "27", "28") == [False, True]
        cache.put([f"more {number}" for number in range(20)], rows(*range(20)))  # more than fits at once
        assert known(cache, *(f"more {number}" for number in range(20))) == [False] * 10 + [True] * 10
        assert (
            cache.get(["more 10", "?", "more 19"])[0] == np.concatenate([rows(10), np.zeros((1, 3)), rows(19)])
        ).all()


def test_memory_stays_that_of_the_vectors_kept(run_python):
    code = """
from pathlib import Path
import numpy as np
from convinse.support.vector_cache import VectorCache
def held():
    names = ("RssAnon:", "RssShmem:")
    return sum(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(names))
cache, vectors = VectorCache(None, "model", 384, 2_000), np.ones((500, 384))
samples = []
for put in range(60):
    cache.put([f"{put} {n}" for n in range(500)], vectors)
    samples.append(held())
print(len(cache), max(samples[10:]) - samples[10])
"""
    if not Path("/proc/self/status").exists():
        pytest.skip("Linux only")
    kept, grown = map(int, run_python(code).split())
    assert kept == 2_000
    assert grown < 1_000  # KB; 25,000 more vectors have 19,000


@pytest.mark.parametrize("model", ["a/b", "../../up", "", "\0", "é" * 300, "\udce9", "con:1|?*", "x" * 5000])
def test_a_model_id_of_any_characters_is_one_file_below_vectors(workdir, model):
    with closing(VectorCache("cache", model, 3)) as cache, closing(VectorCache("cache", model + "2", 3)) as other:
        cache.put(["a"], rows(1))
        other.put(["a"], rows(2))
        assert (cache.get(["a"])[0] == rows(1)).all()
        assert (other.get(["a"])[0] == rows(2)).all()
    found = [path for path in workdir.rglob("*") if path.is_file()]
    assert len(found) == 2
    assert {path.parent for path in found} == {workdir / "cache" / "vectors"}


def test_files_and_folder_are_for_their_owner_only(cache, workdir):
    before = os.umask(0)
    try:
        cache.put(["a"], rows(1))
    finally:
        os.umask(before)
    assert stat.S_IMODE(file(workdir).stat().st_mode) == 0o600
    assert stat.S_IMODE(file(workdir).parent.stat().st_mode) == 0o700


def test_records_are_packed_and_aligned(cache, workdir):
    cache.put(["a", "b", "c"], rows(1, 2, 3))
    content = file(workdir).read_bytes()
    start = len(content) - 3 * SIZE
    assert start % 64 == 0
    assert content[start + SIZE + 16 :][:6] == rows(2).astype("<f2").tobytes()


def test_closing_twice_and_using_it_again(cache):
    cache.close()
    cache.put(["a"], rows(1))
    cache.close()
    cache.close()
    assert known(cache, "a") == [True]
    cache.close()
    cache.put(["b"], rows(2))
    assert known(cache, "a", "b") == [True, True]


def test_no_descriptor_is_left_open(workdir):
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        pytest.skip("this system does not list open files")
    before = len([*descriptors.iterdir()])
    for path in (None, "cache"):
        cache = VectorCache(path, "model", 3)
        for number in range(5):
            cache.put([str(number)], rows(number))
            cache.get([str(number)])
        del cache  # not closed
    assert len([*descriptors.iterdir()]) == before


def test_rows_that_others_append_are_found(cache, workdir):
    with again(workdir) as other:
        assert known(cache, "a") == [False]
        other.put(["a"], rows(1))
        assert known(cache, "a") == [True]
        cache.put(["a", "b"], rows(9, 2))
        assert (other.get(["a", "b"])[0] == rows(1, 2)).all()
        assert len(other) == len(cache) == 2


LONGER = 5 * SIZE + 3  # zeros, as after a power failure
CHANGES = {  # what happens to the file, and which of three texts are known then
    "deleted": (Path.unlink, [False] * 3),
    "cut": (lambda path: os.truncate(path, path.stat().st_size - 2 * SIZE), [True, False, False]),
    "filled up with zeros": (lambda path: os.truncate(path, path.stat().st_size + LONGER), [True] * 3),
}


@pytest.mark.parametrize(("change", "left"), CHANGES.values(), ids=CHANGES)
def test_a_file_that_someone_changed_is_read_as_far_as_it_goes(cache, workdir, change, left):
    cache.put(["a", "b", "c"], rows(1, 2, 3))
    assert known(cache, "a", "b", "c") == [True] * 3
    change(file(workdir))
    assert known(cache, "a", "b", "c", "d") == [*left, False]
    cache.put(["d"], rows(4))
    with again(workdir) as other:
        for one in (cache, other):
            assert known(one, "a", "b", "c", "d") == [*left, True]


# --- damage


@pytest.mark.parametrize("cut", range(1, SIZE + 1))
def test_a_record_cut_at_any_byte_is_ignored_and_repaired(cache, workdir, cut):
    cache.put(["a", "b"], rows(1, 2))
    cache.close()
    os.truncate(file(workdir), file(workdir).stat().st_size - cut)
    before = file(workdir).stat().st_size
    assert known(cache, "a", "b") == [True, False]
    assert file(workdir).stat().st_size == before  # readers change nothing
    cache.put(["c", "b"], rows(3, 4))
    with again(workdir) as other:
        assert (other.get(["a", "b", "c"])[0] == rows(1, 4, 3)).all()
        assert len(other) == 3
    assert file(workdir).stat().st_size == before + cut + SIZE


@pytest.mark.parametrize("length", [0, 1, 8, 30, 63])
def test_a_header_cut_at_any_byte_is_written_again(cache, workdir, length):
    cache.put(["a"], rows(1))
    cache.close()
    os.truncate(file(workdir), length)
    assert known(cache, "a") == [False]
    cache.put(["a"], rows(2))
    with again(workdir) as other:
        assert (other.get(["a"])[0] == rows(2)).all()


@pytest.mark.parametrize("byte", range(26))
def test_a_record_with_a_flipped_bit_is_unknown_until_it_is_put_again(cache, workdir, byte):
    cache.put(["a", "b", "c"], rows(1, 2, 3))
    content = bytearray(file(workdir).read_bytes())
    content[len(content) - 2 * SIZE + byte] ^= 1 << byte % 8
    file(workdir).write_bytes(content)
    with again(workdir) as other:
        for one in (cache, other):
            vectors, mask = one.get(["a", "b", "c"])
            assert mask.tolist() == [True, False, True]
            assert (vectors == rows(1, 0, 3)).all()
        cache.put(["a", "b", "c"], rows(4, 5, 6))
        for one in (cache, other):
            assert (one.get(["a", "b", "c"])[0] == rows(1, 5, 3)).all()
    with again(workdir) as fresh:
        assert (fresh.get(["a", "b", "c"])[0] == rows(1, 5, 3)).all()


@pytest.mark.parametrize("half", [0, 1])
def test_a_record_of_another_text_with_half_the_hash_in_common_is_not_returned(cache, workdir, half):
    cache.put(["a"], rows(1))
    key = bytearray(hashlib.blake2b(b"b", digest_size=16).digest())
    key[8 * half + 3] ^= 4
    record = bytes(key) + rows(2).astype("<f2").tobytes()
    record += zlib.crc32(record).to_bytes(4, "little")
    with file(workdir).open("ab") as target:
        target.write(record.ljust(SIZE, b"\0"))
    assert known(cache, "a", "b") == [True, False]
    cache.put(["b"], rows(3))
    assert (cache.get(["a", "b"])[0] == rows(1, 3)).all()


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"something of a user's", "not an embedding cache"),
        (b"x" * 5000, "not an embedding cache"),
        (b"cvnsvecs" + b"\7\0\0\0" + bytes(500), "format 7"),
        (b"cvnsvecs" + b"\1\0\0\0\3\0\0\0" + bytes(500), "damaged"),
    ],
)
def test_a_foreign_file_is_refused_and_left_alone(cache, workdir, content, fault):
    cache.put(["a"], rows(1))
    cache.close()
    file(workdir).write_bytes(content)
    for action in (lambda: cache.get(["a"]), lambda: cache.put(["a"], rows(1)), lambda: len(cache)):
        refused(CacheError, action, fault, str(file(workdir)), "ers_cache_path")
        assert file(workdir).read_bytes() == content


def test_another_dimension_is_refused_and_changes_nothing(cache, workdir):
    cache.put(["a"], rows(1))
    before = file(workdir).read_bytes()
    with again(workdir, dimension=4) as other:
        for action in (lambda: other.get(["a"]), lambda: other.put(["b"], np.ones((1, 4)))):
            refused(CacheError, action, "length 3, not 4")
    assert file(workdir).read_bytes() == before
    assert known(cache, "a") == [True]


def test_a_damaged_header_is_refused(cache, workdir):
    cache.put(["a"], rows(1))
    content = bytearray(file(workdir).read_bytes())
    for byte in range(64):
        content[byte] ^= 1
        file(workdir).write_bytes(content)
        refused(CacheError, lambda: cache.get(["a"]))
        content[byte] ^= 1
    file(workdir).write_bytes(content)
    assert known(cache, "a") == [True]


def test_a_folder_that_cannot_be_made_is_one_line(workdir):
    (workdir / "file").write_text("x")
    with closing(VectorCache("file", "model", 3)) as cache:
        for action in (lambda: cache.get(["a"]), lambda: cache.put(["a"], rows(1))):
            refused(CacheError, action, "file/vectors", "ers_cache_path")


def test_a_read_only_folder_is_read_and_refused_when_written(run_python, cache, workdir):
    cache.put(["a"], rows(1))
    cache.close()
    file(workdir).chmod(0o444)
    for folder in (file(workdir).parent, workdir / "cache"):
        folder.chmod(0o555)
    workdir.chmod(0o755)
    code = """
import os
import numpy as np
from convinse.support.errors import CacheError
from convinse.support.vector_cache import VectorCache
if os.geteuid() == 0:  # who may write everywhere
    os.setuid(65534)
for model in ("model", "another"):
    cache = VectorCache("cache", model, 3)
    print(cache.get(["a", "b"])[1].tolist(), len(cache))
    try:
        cache.put(["b"], np.ones((1, 3)))
    except CacheError as error:
        print(error)
    print(cache.get(["a", "b"])[1].tolist())
"""
    try:
        lines = run_python(code).splitlines()
    finally:
        for folder in (workdir / "cache", workdir / "cache" / "vectors"):
            folder.chmod(0o755)
    assert [*lines[:1], lines[2]] == ["[True, False] 1", "[True, False]"]
    assert [lines[3], lines[5]] == ["[False, False] 0", "[False, False]"]
    for message in (lines[1], lines[4]):
        assert "cannot be written: Permission denied" in message
        assert "ers_cache_path" in message
    assert len(lines) == 6


def test_a_full_disk_is_one_line_and_loses_nothing(run_python, workdir):
    code = """
import os, resource
import numpy as np
from convinse.support.errors import CacheError
from convinse.support.vector_cache import VectorCache
cache = VectorCache("cache", "model", 3)
cache.put(["a", "b"], np.array([[1, -1, .25], [2, -2, .5]]))
resource.setrlimit(resource.RLIMIT_FSIZE, (64 + 32 * 5 + 7, resource.RLIM_INFINITY))
(path,) = os.scandir("cache/vectors")
for more in (10, 4):
    try:
        cache.put([f"more {n}" for n in range(more)], np.ones((more, 3)))
    except CacheError as error:
        print(error)
    print(os.stat(path).st_size, cache.get(["a", "b", "more 0"])[1].tolist())
cache.put(["c"], np.array([[3, -3, .75]]))
try:
    VectorCache("other", "x" * 500, 3).put(["a"], np.ones((1, 3)))
except CacheError as error:
    print(os.stat(next(os.scandir("other/vectors"))).st_size)
"""
    lines = run_python(code).splitlines()
    assert lines[1] == lines[3] == f"{64 + 2 * SIZE} [True, True, False]"
    for message in (lines[0], lines[2]):
        assert "cannot be written" in message
        assert "ers_cache_path" in message
    assert lines[4:] == ["0"]
    with again(workdir) as cache:
        assert (cache.get(["a", "b", "c"])[0] == rows(1, 2, 3)).all()
        cache.put(["d"], rows(4))
        assert len(cache) == 4


# --- processes


def right(cache, name, numbers):
    vectors, mask = cache.get([f"{name} {number}" for number in numbers])
    expected = np.repeat(np.array(numbers)[:, None] % 2048, 384, axis=1)
    assert (vectors[mask] == expected[mask]).all()
    return mask


def test_a_writer_killed_at_any_instant_loses_its_last_write_only(start_together, workdir):
    rng = random.Random(11)
    batch, first = 1500, 0
    with again(workdir, 384) as cache:
        for _ in range(6):
            (writer,) = start_together(WRITER, ("a", first, batch, 1000))
            writer.stdout.readline()
            time.sleep(rng.uniform(0, 0.03))
            os.kill(writer.pid, signal.SIGKILL)
            finished = [first, *map(int, writer.stdout)][-1] + batch
            writer.wait()
            before = len(cache)
            found = 0
            for name in ("a", "shared"):
                mask = right(cache, name, range(finished + 3 * batch))
                assert mask[first:finished].all()
                found += mask.sum()
            assert before == found + (first > 0)  # each record is whole and of a text that was put
            cache.put(["afterwards"], np.ones((1, 384)))
            assert known(cache, "afterwards") == [True]
            first = finished + 3 * batch


def test_processes_that_append_at_once_lose_and_repeat_nothing(start_together, workdir):
    batch, rounds, names = 40, 25, ["a", "b"]
    writers = start_together(WRITER, *((name, 0, batch, rounds) for name in names))
    numbers = range(batch * rounds)
    with again(workdir, 384) as cache:
        seen = 0
        while any(writer.poll() is None for writer in writers):
            now = sum(int(right(cache, name, numbers).sum()) for name in (*names, "shared"))
            assert now >= seen
            seen = now
        for writer in writers:
            _, errors = writer.communicate(timeout=60)
            assert writer.returncode == 0, errors
        for name in (*names, "shared"):
            assert right(cache, name, numbers).all()
        assert len(cache) == 3 * len(numbers)


def test_a_forked_process_has_a_lock_and_a_memory_of_its_own(run_python):
    code = """
import os
import numpy as np
from convinse.support.vector_cache import VectorCache
caches = [VectorCache("cache", "model", 3), VectorCache(None, "model", 3)]
for cache in caches:
    cache.put(["before"], np.ones((1, 3)))
child = os.fork()
for cache in caches:
    for n in range(200):
        cache.put([f"{bool(child)} {n}", f"both {n}"], np.full((2, 3), n))
if not child:
    print([len(cache) for cache in caches], flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print([len(cache) for cache in caches])
texts = [f"{who} {n}" for n in range(200) for who in (True, False, "both")]
assert caches[0].get(texts)[1].all()
"""
    child, parent = run_python(code).splitlines()
    assert child.endswith(", 401]")  # what was in memory is there, too
    assert parent == "[601, 401]"
