import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests
from test_passage_index import zipf_rows

from convinse.cli import main
from convinse.config import Config
from convinse.passages import part_client
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.opening import open_index, open_served
from convinse.passages.part_server import create_app
from convinse.resources import Resources
from convinse.support.errors import DataError, NetworkError
from loopback import free_port, ok, scripted_server, served, silent, status

ROWS = zipf_rows(120, 4)


@pytest.fixture
def whole(corpus, tmp_path):
    file = corpus(ROWS)
    build_index(file, tmp_path / "parts", parts=3)
    build_index(file, tmp_path / "whole")
    return PassageIndex(tmp_path / "whole")


@pytest.fixture
def nodes(whole, tmp_path):
    """Servers of the three parts, each of which a test may end; `urls` in their order."""
    with ExitStack() as running:
        ends = {}

        def start(number):
            stack = running.enter_context(ExitStack())
            port = stack.enter_context(served(create_app(open_served(tmp_path / "parts" / f"part-{number}"))))
            ends[port] = stack
            return f"http://127.0.0.1:{port}"

        def end(url):
            ends[int(url.rpartition(":")[2])].close()

        yield SimpleNamespace(start=start, end=end, urls=[start(number) for number in (1, 2, 3)])
        with ThreadPoolExecutor() as threads:  # each takes its time
            list(threads.map(lambda stack: stack.close(), ends.values()))


def moved(port, url):
    """Requests of a session, where those to a port go to another address: a server that has started there."""
    request = part_client.WebSession._request
    return lambda session, method, asked, *more, **options: request(
        session, method, asked.replace(f"http://127.0.0.1:{port}", url), *more, **options
    )


def test_servers_give_what_one_piece_gives(nodes, whole):
    with closing(open_index(",".join(reversed(nodes.urls)))) as index:
        assert (len(index), index.build_id, index.parameters) == (120, whole.build_id, whole.parameters)
        for question in ("w1", "w2 w5 w30", "w1 w2 w3 w4", "nothing"):
            for top in (1, 10, 200):
                ranked = index.find(question, top)
                assert ranked == whole.find(question, top)
                assert index.search(question, top) == ranked.hits


def test_many_questions_go_in_few_requests(nodes, whole, monkeypatch):
    questions = [f"w{number % 50} w{number % 7}" for number in range(100)] + ["nothing", ""]
    sent = []
    ask = part_client.PartServers.ask
    monkeypatch.setattr(
        part_client.PartServers, "ask", lambda servers, *asked: sent.append(asked[1]) or ask(servers, *asked)
    )
    with closing(open_index(",".join(nodes.urls))) as index:
        assert index.search_all(questions, 10) == whole.search_all(questions, 10)
        assert sent == ["search"] * 3 * 7
        assert index.find_all(questions, 10) == whole.find_all(questions, 10)
        assert index.find_all(questions[:3], 9_000) == whole.find_all(
            questions[:3], 9_000
        )  # each in a request of its own
        assert index.find_all([], 10) == index.search_all([], 10) == []


def test_questions_lack_a_part_from_the_moment_that_it_is_gone(nodes, whole, monkeypatch):
    """Batches that were answered before are whole; each later answer tells what it lacks."""
    monkeypatch.setattr("convinse.passages.parts._BATCHES", 1)
    questions = ["w1 w2"] * 64
    ask = part_client.PartServers.ask
    asked = []

    def ask_until(servers, part, path, request):
        asked.append(part.number)
        if asked.count(2) == 3 and part.number == 2:
            nodes.end(nodes.urls[1])
        return ask(servers, part, path, request)

    monkeypatch.setattr(part_client.PartServers, "ask", ask_until)
    with closing(open_index(",".join(nodes.urls))) as index:
        rankings = index.find_all(questions, 20, texts=False)
        lacking = [[*ranked.missing] for ranked in rankings]
        assert lacking == [[]] * 32 + [["part-2"]] * 32
        assert all(ranked.hits == whole.search("w1 w2", 20) for ranked in rankings[:32])
        assert all(hit.number not in range(40, 80) for ranked in rankings[32:] for hit in ranked.hits)
        with pytest.raises(NetworkError, match="part-2 of the passages"):
            index.search_all(questions, 20)


def test_a_server_that_leaves_out_an_answer_counts_as_missing(nodes):
    about = requests.get(nodes.urls[1], timeout=30).json()
    with (
        scripted_server(ok(about), ok({**about, "hits": [[]]})) as server,
        closing(open_index(f"{nodes.urls[0]},{server.url},{nodes.urls[2]}")) as index,
    ):
        assert {*index.find_all(["w1", "w2"], 10)[1].missing} == {"part-2"}


def test_a_configuration_names_servers(nodes, whole):
    with Resources(Config(ers_passage_index=",".join(nodes.urls), ers_use_cache=False)) as resources:
        assert resources.passages.build_id == whole.build_id
        assert resources.passages.search("w1 w2") == whole.search("w1 w2")
        nodes.end(nodes.urls[0])
        with pytest.raises(NetworkError, match="part-1 of the passages"):
            resources.passages.search("w1 w2")


def test_a_server_that_is_down_is_told(nodes, whole):
    numbers = range(40, 80)  # of the second part
    with closing(open_index(",".join(nodes.urls))) as index:
        nodes.end(nodes.urls[1])
        ranked = index.find("w1 w2", 200)
        assert set(ranked.missing) == {"part-2"} and "no connection" in ranked.missing["part-2"]
        assert ranked.hits == [hit for hit in whole.search("w1 w2", 200) if hit.number not in numbers]
        with pytest.raises(NetworkError, match="part-2 of the passages: 127.0.0.1:.*start it again: retrieve serve"):
            index.search("w1 w2")
        for url in nodes.urls[::2]:
            nodes.end(url)
        with pytest.raises(NetworkError, match="no part of the passages can be asked"):
            index.find("w1", 10)


def test_a_part_of_two_servers_is_found_at_the_second(nodes, whole):
    again = nodes.start(2)
    with closing(open_index(",".join([*nodes.urls, again]))) as index:
        nodes.end(nodes.urls[1])
        assert index.find("w1 w2", 20) == whole.find("w1 w2", 20)


def test_a_server_that_ends_between_the_search_and_the_texts(nodes, whole, monkeypatch):
    with closing(open_index(",".join(nodes.urls))) as index:
        passages = part_client.ServedPart.passages

        def passages_later(part, numbers):
            if part.part.number == 2:
                nodes.end(nodes.urls[1])
            return passages(part, numbers)

        monkeypatch.setattr(part_client.ServedPart, "passages", passages_later)
        ranked = index.find("w1 w2", 50)
        assert [*ranked.missing] == ["part-2"] and len(ranked.hits) == len(ranked.passages) > 0
        assert [hit.id for hit in ranked.hits] == [passage.id for passage in ranked.passages]


def test_a_server_that_comes_late_or_back_is_asked(nodes, whole, monkeypatch, tmp_path):
    monkeypatch.setattr(part_client, "_REST", 0)
    port = free_port()
    with closing(open_index(f"http://127.0.0.1:{port},{nodes.urls[0]},{nodes.urls[2]}")) as index:
        assert set(index.find("w1", 10).missing) == {"part-2"}
        monkeypatch.setattr(part_client.WebSession, "_request", moved(port, nodes.start(2)))
        assert index.find("w1", 10) == whole.find("w1", 10)


def test_what_is_no_part_of_this_index(nodes, corpus, tmp_path):
    build_index(corpus(ROWS[:50]), tmp_path / "else")
    with served(create_app(PassageIndex(tmp_path / "else"))) as port:
        with pytest.raises(DataError, match="a part of another index"):
            open_index(f"{nodes.urls[0]},http://127.0.0.1:{port}")
        with closing(open_index(f"http://127.0.0.1:{port}")) as index:  # one in one piece is served likewise
            assert [hit.id for hit in index.search("w1", 3)] == [
                hit.id for hit in PassageIndex(tmp_path / "else").search("w1", 3)
            ]
    with scripted_server(ok({"hello": 1})) as server, pytest.raises(NetworkError, match="as retrieve serve does"):
        open_index(server.url)
    with pytest.raises(NetworkError, match="no connection"):
        open_index(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(NetworkError, match="not an address"):
        open_index("ftp://node")


def test_a_server_that_fails_or_lies_counts_as_missing(nodes, whole):
    about = requests.get(nodes.urls[1], timeout=30).json()
    for answer in (status(500, b"{}"), ok({**about, "part": {**about["part"], "number": 1}}), ok([1])):
        with (
            scripted_server(ok(about), answer) as server,
            closing(open_index(f"{nodes.urls[0]},{server.url},{nodes.urls[2]}")) as index,
        ):
            assert set(index.find("w1", 10).missing) == {"part-2"}


def test_a_server_that_hangs_is_waited_for_once(nodes, monkeypatch):
    about = requests.get(nodes.urls[1], timeout=30).json()
    with (
        scripted_server(ok(about), silent(60)) as server,
        closing(open_index(f"{nodes.urls[0]},{server.url},{nodes.urls[2]}")) as index,
    ):
        monkeypatch.setattr(index._parts[1]._servers._web, "deadline", 2.5)  # of all servers: a busy machine needs some
        for _ in range(3):
            assert set(index.find("w1", 10).missing) == {"part-2"}
        assert len(server.requests) == 2  # the first one is about itself


def test_requests_that_are_refused(nodes):
    for path, body, code, text in (
        ("search", {"questions": ["w" * 10_001]}, 400, "questions"),
        ("search", {"questions": ["w1"], "top": 0}, 400, "top"),
        ("search", {"top": 3}, 400, "questions"),
        ("search", {"questions": ["w1"] * 101, "top": 100}, 400, "10000 passages at most"),
        ("passages", {"numbers": [40]}, 400, "there are 40 passages"),
        ("passages", {"numbers": [-1]}, 400, "numbers"),
        ("else", {}, 404, "unknown path"),
    ):
        answer = requests.post(f"{nodes.urls[0]}/{path}", json=body, timeout=30)
        assert answer.status_code == code and text in answer.json()["error"]
    with closing(open_index(",".join(nodes.urls))) as index, pytest.raises(DataError, match="400"):
        index.find("w1 " * 5000, 10)  # not a part that is missing


def test_the_command_says_what_is_missing(nodes, whole, tmp_path, capsys):
    questions = tmp_path / "questions.jl"
    questions.write_text('{"id": "1", "text": "w1 w2"}\n{"id": "2", "text": "w3"}\n')
    search = ["retrieve", "search", ",".join(nodes.urls), str(questions), "--quiet", "--output"]
    assert main([*search, "all.jl", "--format", "jsonl"]) == main([*search, "all.tsv"]) == 0
    assert main(["retrieve", "search", str(tmp_path / "whole"), str(questions), "--output", "here.tsv"]) == 0
    assert Path("all.tsv").read_text() == Path("here.tsv").read_text()
    nodes.end(nodes.urls[2])
    capsys.readouterr()
    assert main([*search, "some.jl", "--format", "jsonl"]) == 0
    assert "questions without part-3" in capsys.readouterr().out
    partial = [
        [json.loads(line).get("partial") for line in Path(name).read_text().splitlines()]
        for name in ("some.jl", "all.jl")
    ]
    assert partial == [[["part-3"], ["part-3"]], [None, None]]
    assert main([*search, "some.tsv"]) == 1
    assert "question '1': part-3 of the passages is missing" in capsys.readouterr().err
    assert not Path("some.tsv").exists()


def test_a_server_that_is_killed(nodes, whole, tmp_path):
    command = [sys.executable, "-m", "convinse", "retrieve", "serve", str(tmp_path / "parts" / "part-2"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            assert f"part 2 of 3 of the index {whole.build_id} is at http" in line
            url = line.partition(" is at ")[2].split()[0]
            with closing(open_index(f"{nodes.urls[0]},{url},{nodes.urls[2]}")) as index:
                assert index.find("w1 w2", 20) == whole.find("w1 w2", 20)
                process.send_signal(signal.SIGKILL)
                process.wait(60)
                assert [*index.find("w1 w2", 20).missing] == ["part-2"]
        finally:
            process.kill()
