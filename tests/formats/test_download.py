"""Downloads: what is fetched, what is checked, what happens to files that are wrong."""

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from convinse.formats.download import File, FileCollection, collections, download, find_collection, md5
from convinse.support.errors import ConfigError, DataError, NetworkError, OutputError
from convinse.support.web import WebSession
from fileserver import serve
from loopback import cut, scripted_server, status
from written import names, write


def data(name, questions):
    """A small MRQA file."""
    asked = {"question": "?", "answers": ["a"]}
    lines = [{"header": {"dataset": name, "split": "dev"}}]
    lines += [{"context": "a", "qas": [{"qid": f"{name}{i}", **asked}]} for i in range(questions)]
    return gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode())


ONE, TWO = data("one", 3), data("two", 500)


def collection(url="", **changes):
    files = [File("One.jsonl.gz", "one.gz", hashlib.md5(ONE).hexdigest(), 3),
             File("Two.jsonl.gz", "two.gz", hashlib.md5(TWO).hexdigest(), 500)]  # fmt: skip
    files = [File(**{**{name: getattr(file, name) for name in file.__struct_fields__}, **changes}) for file in files]
    return FileCollection("both", f"{url}/release/", files)


def fetch(files, folder="data", **more):
    return list(download(files, Path(folder), quiet=True, **more))


def test_all_files_are_fetched_under_their_names(workdir):
    with scripted_server(serve(ONE), serve(TWO)) as server:
        done = fetch(collection(server.url), "deep/data")
    assert [(each.path.name, each.examples, each.fetched) for each in done] == [
        ("One.jsonl.gz", 3, True), ("Two.jsonl.gz", 500, True)
    ]  # fmt: skip
    assert [request.path for request in server.requests] == ["/release/one.gz", "/release/two.gz"]
    assert names("deep/data") == ["One.jsonl.gz", "Two.jsonl.gz"] and Path("deep/data/One.jsonl.gz").read_bytes() == ONE


def test_what_is_there_is_not_fetched_again(workdir):
    write("data/One.jsonl.gz", ONE)
    with scripted_server(serve(TWO)) as server:
        done = fetch(collection(server.url))
        assert [each.fetched for each in done] == [False, True] and len(server.requests) == 1
        assert [each.fetched for each in fetch(collection(server.url))] == [False, False] and len(server.requests) == 1


def test_another_file_in_its_place_is_left_alone(workdir):
    write("data/One.jsonl.gz", b"mine")
    with pytest.raises(DataError, match=r"One\.jsonl\.gz: is there already.*move it away"):
        fetch(collection("http://127.0.0.1:9"))
    assert names("data") == ["One.jsonl.gz"] and Path("data/One.jsonl.gz").read_bytes() == b"mine"


def test_an_interrupted_file_is_completed_by_the_next_call(workdir):
    broken = [serve(ONE), serve(TWO, '"t"', stop=1000), *[cut()] * 5]
    with scripted_server(*broken) as server, pytest.raises(NetworkError, match="again to go on"):
        fetch(collection(server.url))
    assert names("data") == ["One.jsonl.gz", "Two.jsonl.gz.part", "Two.jsonl.gz.part.etag"]
    with scripted_server(serve(TWO, '"t"')) as server:
        assert len(fetch(collection(server.url))) == 2
    assert [request.headers["Range"] for request in server.requests] == ["bytes=1000-"]
    assert names("data") == ["One.jsonl.gz", "Two.jsonl.gz"]


def test_a_whole_part_only_needs_its_name(workdir):
    write("data/One.jsonl.gz.part", ONE)
    write("data/Two.jsonl.gz.part", TWO)
    assert [each.fetched for each in fetch(collection("http://127.0.0.1:9"))] == [True, True]
    assert names("data") == ["One.jsonl.gz", "Two.jsonl.gz"]


def test_a_wrong_sum_keeps_the_file_aside(workdir):
    with scripted_server(serve(TWO)) as server, pytest.raises(DataError) as caught:
        fetch(collection(server.url))
    text = str(caught.value)
    for word in ("One.jsonl.gz.bad", md5(Path("data/One.jsonl.gz.bad")), f"{server.url}/release/one.gz"):
        assert word in text
    assert names("data") == ["One.jsonl.gz.bad"]
    with scripted_server(serve(ONE), serve(TWO)) as server:
        fetch(collection(server.url))  # begins anew
    assert [request.headers["Range"] for request in server.requests] == [None, None]
    assert names("data") == ["One.jsonl.gz", "One.jsonl.gz.bad", "Two.jsonl.gz"]


def test_a_changed_file_on_the_server_is_noticed(workdir):
    """A server without tags, whose file changed while the transfer was interrupted."""
    with scripted_server(serve(TWO, stop=100), serve(ONE * 10)) as server, pytest.raises(DataError, match="MD5"):
        fetch(FileCollection("", f"{server.url}/", collection().files[1:]))
    assert names("data") == ["Two.jsonl.gz.bad"]


def test_a_wrong_number_of_questions(workdir):
    with scripted_server(serve(ONE)) as server, pytest.raises(DataError, match=r"bad: has 3 questions, not 4"):
        fetch(collection(server.url, examples=4))
    assert names("data") == ["One.jsonl.gz.bad"]


def test_a_size_and_a_sha256_are_checked_and_folders_are_made(workdir):
    right = {"sha256": hashlib.sha256(b"text").hexdigest(), "size": 4}

    def fetched(**more):
        with scripted_server(serve(b"text")) as server:
            return fetch(FileCollection("", f"{server.url}/", [File("wiki/a.jl", "a.jl", **more)]))

    for wrong, said in (({"size": 5}, "4 bytes, not 5"), ({"sha256": "0" * 64}, "SHA-256 sum 982d.*, not 0000")):
        with pytest.raises(DataError, match=rf"wiki/a\.jl\.bad: .* {said}"):
            fetched(**{**right, **wrong})
    assert [done.fetched for done in fetched(**right) + fetched(**right)] == [True, False]
    assert Path("data/wiki/a.jl").read_bytes() == b"text"


def test_what_has_no_published_sum_is_fetched_and_said_so(workdir):
    with scripted_server(serve(b"PK...")) as server:
        (done,) = fetch(FileCollection("", f"{server.url}/", [File("a.zip", "a.zip")]))
    assert done.fetched and not done.sure and Path("data/a.zip").read_bytes() == b"PK..."


def test_a_mirror_has_the_names_of_the_files(workdir):
    with scripted_server(serve(ONE), serve(TWO)) as server:
        fetch(collection("http://127.0.0.1:9"), mirror=f"{server.url}/my/mirror")
    assert [request.path for request in server.requests] == ["/my/mirror/One.jsonl.gz", "/my/mirror/Two.jsonl.gz"]


def test_a_missing_file_is_an_error_at_once(workdir):
    with scripted_server(status(404)) as server, pytest.raises(NetworkError, match="404"):
        fetch(collection(server.url))
    assert len(server.requests) == 1 and names("data") == []


def test_a_session_of_ones_own_stays_open(workdir):
    session = WebSession(attempts=1)
    with scripted_server(cut()) as server, pytest.raises(NetworkError, match="1 attempt"):
        fetch(collection(server.url), session=session)
    session.close()


def test_a_folder_that_cannot_be_made(workdir):
    Path("file").write_text("")
    with pytest.raises(OutputError, match="file"):
        fetch(collection(), "file/data")


def test_progress_in_a_log(workdir, caplog):
    caplog.set_level("INFO", logger="convinse")
    content = data("big", 9000)
    file = File("Big.jsonl.gz", "b", hashlib.md5(content).hexdigest(), 9000)
    with scripted_server(serve(content)) as server:
        list(download(FileCollection("", server.url, [file]), Path("data")))
    size = -(-len(content) // 1024)
    assert f"Big.jsonl.gz: {size} of {size} KiB" in caplog.text


def test_the_table():
    table = collections()
    others = ["squad", "klue-mrc", "convmix", "convinse", "poleval"]
    assert list(table) == ["mrqa-train", "mrqa-dev-in", "mrqa-dev-out", *others]
    rest = [file for name in others for file in table.pop(name).files]
    assert all(file.md5 == "" and (len(file.sha256), bool(file.size)) in ((0, False), (64, True)) for file in rest)
    assert sum(file.is_sure() for file in rest) == 5 and len({file.name for file in rest}) == len(rest) == 29
    files = [file for each in table.values() for file in each.files]
    assert len(files) == 18 and len({file.md5 for file in files}) == 18
    assert all(re.fullmatch("[0-9a-f]{32}", file.md5) and file.name.endswith(".jsonl.gz") for file in files)
    counts = {name: sum(file.examples for file in each.files) for name, each in table.items()}
    assert counts == {"mrqa-train": 516_819, "mrqa-dev-in": 58_224, "mrqa-dev-out": 9_633}
    assert find_collection("mrqa-dev-out").files[0].url.startswith("http://participants-area.bioasq.org/")
    with pytest.raises(ConfigError, match="did you mean 'mrqa-train'"):
        find_collection("mrqa-trian")
