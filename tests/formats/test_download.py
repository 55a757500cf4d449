"""Downloads: files that are fetched, the checks on them, and files that are wrong."""

import hashlib
import re
from pathlib import Path

import pytest

from convinse.formats.download import File, collections, download, find_collection
from convinse.support.errors import ConfigError, DataError, NetworkError
from loopback import scripted_server, serve, status
from written import names, write

ONE, TWO = b"one" * 100, b"two" * 9000


def collection(url=""):
    return [
        File("One.gz", f"{url}/release/one.gz", hashlib.md5(ONE).hexdigest()),
        File("more/Two.gz", f"{url}/release/two.gz", sha256=hashlib.sha256(TWO).hexdigest(), size=len(TWO)),
    ]


def fetch(files, folder="data", **more):
    return list(download(files, Path(folder), quiet=True, **more))


def test_all_files_are_fetched_under_their_names_and_only_once(workdir):
    with scripted_server(serve(ONE), serve(TWO)) as server:
        done = fetch(collection(server.url), "deep/data")
        assert [(path.name, is_new, is_checked) for path, is_new, is_checked in done] == [
            ("One.gz", True, True), ("Two.gz", True, True)
        ]  # fmt: skip
        assert [is_new for _, is_new, _ in fetch(collection(server.url), "deep/data")] == [False, False]
    assert [request.path for request in server.requests] == ["/release/one.gz", "/release/two.gz"]
    assert names("deep/data") == ["One.gz", "more"] and Path("deep/data/more/Two.gz").read_bytes() == TWO


def test_another_file_in_the_place_is_left_alone(workdir):
    write("data/One.gz", b"mine")
    with pytest.raises(DataError, match=r"One\.gz: is there already with the MD5 sum .*move it away"):
        fetch(collection("http://127.0.0.1:9"))
    assert names("data") == ["One.gz"] and Path("data/One.gz").read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("steps", "error", "words"),
    [
        (
            [serve(TWO)],
            DataError,
            "One.gz: .*/release/one.gz gave a file with the MD5 sum [0-9a-f]{32}, not [0-9a-f]{32}",
        ),
        ([serve(ONE), serve(ONE)], DataError, "Two.gz: .* gave a file with the SHA256 sum"),
        ([status(404)], NetworkError, "404"),
        ([serve(ONE, stop=10)], NetworkError, "broke off.*; run the command again"),
    ],
)
def test_wrong_or_broken_file_is_not_put_in_place(workdir, steps, error, words):
    with scripted_server(*steps) as server, pytest.raises(error, match=words):
        fetch(collection(server.url))
    assert names("data") in ([], ["One.gz", "more"]) and not Path("data/more/Two.gz").exists()


def test_size_is_checked_where_there_is_no_checksum(workdir):
    with scripted_server(serve(b"PK...")) as server:
        with pytest.raises(DataError, match="5 bytes, not 6"):
            fetch([File("a.zip", f"{server.url}/a.zip", size=6)])
        (done,) = fetch([File("a.zip", f"{server.url}/a.zip")])
    assert done[1:] == (True, False) and Path("data/a.zip").read_bytes() == b"PK..."


def test_collections_have_checksums_and_are_found_by_name():
    table = collections()
    others = ["squad", "klue-mrc", "convmix", "convinse", "poleval"]
    assert list(table) == ["mrqa-train", "mrqa-dev-in", "mrqa-dev-out", *others]
    rest = [file for name in others for file in table.pop(name)]
    assert all(file.md5 == "" and (len(file.sha256), bool(file.size)) in ((0, False), (64, True)) for file in rest)
    files = [file for each in table.values() for file in each]
    assert len(files) == 18 and all(re.fullmatch("[0-9a-f]{32}", file.md5) for file in files)
    with pytest.raises(ConfigError, match="did you mean 'mrqa-train'"):
        find_collection("mrqa-trian")
