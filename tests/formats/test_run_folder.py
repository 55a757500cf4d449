import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.formats.run_folder import METRICS, TURNS, RunFolder, RunRecord, with_line
from convinse.support.errors import DataError, OutputError
from patience import PATIENCE
from refusals import refused
from written import json_lines, names, write

HOLDER = """
from pathlib import Path
from convinse.formats.run_folder import RunFolder, with_line
with RunFolder(Path("run"), {"settings": "id"}) as run:
    run.add(*with_line({"conv_id": "held", "questions": []}))
    print("ready", flush=True)
    input()
"""


def conversation(name, text="?"):
    return {"conv_id": name, "domain": "books", "questions": [{"turn": 0, "question": text}]}


@pytest.fixture
def path(workdir):
    return workdir / "results" / "mine" / "kb_text"


def opened(path, settings="id", **options):
    return RunFolder(path, {"settings": settings}, **options)


def filled(path, *names, settings="id", metrics=False):
    with opened(path, settings) as run:
        for name in names:
            run.add(*with_line(conversation(name)))
        if metrics:
            run.write_metrics({"num_questions": len(names)})


def finished(path, settings="id", **options):
    with opened(path, settings, **options) as run:
        return list(run.finished)


def lines(file):
    return [conversation["conv_id"] for conversation in json_lines(file)]


# --- writing and going on


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_one_line_that_reads_back(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("run")
    with opened(folder) as run:
        run.add(*with_line(conversation("a", text)))
        run.add(*with_line(conversation("b")))
    assert (folder / TURNS).read_bytes().count(b"\n") == 2
    with opened(folder) as run:
        assert run.finished == {"a": conversation("a", text), "b": conversation("b")}


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_half_a_last_line_is_cut_off(path, cut):
    filled(path, "a", "b")
    whole = (path / TURNS).read_bytes()
    (path / TURNS).write_bytes(whole[:-cut])
    with opened(path) as run:
        assert list(run.finished) == ["a"]
        run.add(*with_line(conversation("b")))
    assert (path / TURNS).read_bytes() == whole


@pytest.mark.parametrize("line", [b"{broken", b"[]", b'{"conv_id": "\xff"}', b"[" * 5000])
def test_line_of_another_kind_is_named_and_nothing_is_lost(path, line):
    filled(path, "a")
    content = (path / TURNS).read_bytes() + line + b"\n"
    (path / TURNS).write_bytes(content)
    refused(OutputError, lambda: opened(path), "turns.jsonl: line 2 is not a finished conversation")
    assert (path / TURNS).read_bytes() == content


# --- other settings and a new beginning


@pytest.mark.parametrize(
    ("record", "settings", "options"),
    [
        (None, "two", {}),
        (None, "one", {"restart": True}),
        *((record, "one", {}) for record in (b"{broken", b"{}")),  # of unknown settings
    ],
)
def test_new_beginning_moves_the_earlier_results(path, record, settings, options):
    filled(path, "a", "b", settings="one", metrics=True)
    if record is not None:
        (path / "run.json").write_bytes(record)
        (path / "manifest.json").unlink()
    assert finished(path, settings, **options) == []
    assert not (path / METRICS).exists()  # the figures of other settings
    (earlier,) = (folder for folder in path.iterdir() if folder.is_dir())
    assert record is not None or earlier.name == f"earlier-{RunRecord.of({'settings': 'one'}).run}"
    assert lines(earlier / TURNS) == ["a", "b"]
    assert json.loads((earlier / METRICS).read_text()) == {"num_questions": 2}
    filled(path, "c", settings=settings)
    assert finished(path, settings) == ["c"]


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({"program": "2"}, "(changed since: program)"),
        ({"program": "2", "kb": "2"}, "(changed since: kb, program)"),
        ({"passages": "1"}, "(changed since: passages)"),
    ],
)
def test_log_names_the_settings_that_changed(path, caplog, changes, end):
    before = {"kb": "1", "program": "1"}
    with RunFolder(path, before) as run:
        run.add(*with_line(conversation("a")))
    with caplog.at_level("INFO", "convinse"), RunFolder(path, before):
        assert not caplog.messages
    with caplog.at_level("INFO", "convinse"), RunFolder(path, before | changes) as run:
        assert run.finished == {}
    (message,) = caplog.messages
    assert message.startswith("earlier results moved to ") and message.endswith(end)


def test_name_in_a_record_does_not_lead_out_of_the_folder(path):
    filled(path, "a")
    write(path / "run.json", '{"run": "x/../../../out"}')
    assert finished(path) == []
    assert names(path.parent) == [path.name] and names(path) == ["earlier-out", "run.json", TURNS]


# --- two runs


def test_a_second_run_is_refused_while_the_first_one_writes(start, workdir):
    holder = start(HOLDER)
    assert holder.stdout.readline() == "ready\n"
    before = (workdir / "run" / TURNS).read_bytes()
    for options in ({"restart": True}, {}):
        second = partial(opened, workdir / "run", "other", **options)
        refused(OutputError, second, "another run is writing here")
    assert (workdir / "run" / TURNS).read_bytes() == before
    holder.communicate("\n", timeout=PATIENCE)
    assert holder.returncode == 0
    assert finished(workdir / "run") == ["held"]


@pytest.mark.parametrize("content", [None, b'{"half": ', b'{"seconds": {"qu": "x"}}', b"[" * 5000])
def test_unreadable_metrics_count_as_missing(path, content):
    with opened(path) as run:
        if content is not None:
            (path / METRICS).write_bytes(content)
        assert run.seconds() == {}
        run.write_metrics({"p_at_1": 0.5, "seconds": {"qu": 1.5}})
        assert run.seconds() == {"qu": 1.5}


# --- damage


@pytest.mark.parametrize("name", [TURNS, METRICS, "run.json"])
def test_a_damaged_file_of_a_finished_run_is_named_and_nothing_is_lost(path, name):
    filled(path, "a", "b", metrics=True)
    data = (path / name).read_bytes()
    harmed = data.replace(b"b", b"c", 1) if name == TURNS else data.replace(b"i", b"j", 1)
    (path / name).write_bytes(harmed)

    def seconds():
        with opened(path) as run:
            return run.seconds()

    assert f"{name}: altered" in refused(OutputError, seconds)
    assert (path / name).read_bytes() == harmed
    (path / "manifest.json").unlink()  # as the message says: it was changed on purpose
    finished(path)
    (path / name).write_bytes(data)
    assert finished(path, restart=True) == []


def test_a_run_that_goes_on_has_checksums_when_it_is_whole_again(path):
    filled(path, "a", metrics=True)
    filled(path, "b")
    assert not (path / "manifest.json").exists() and finished(path) == ["a", "b"]
    filled(path, "c", metrics=True)
    assert (path / "manifest.json").exists() and finished(path) == ["a", "b", "c"]
    assert finished(path, "another") == [] and not (path / "manifest.json").exists()
    assert next(path.glob("earlier-*/manifest.json")).exists()


def test_turn_that_json_cannot_hold_is_refused():
    turn = {"turn": 0, "question": "?", "module": object()}
    refused(
        DataError,
        lambda: with_line({"conv_id": "c", "questions": [turn]}),
        "conversation 'c': cannot be written as JSON",
    )


def test_evidences_are_written_and_not_held_in_memory(path):
    turn = {"turn": 0, "question": "?", "top_evidences": [{"evidence_text": "long", "source": "kb"}]}
    whole = {"conv_id": "c", "questions": [turn]}
    for _ in range(2):  # as they are added, and as they are read again
        with opened(path) as run:
            if not run.finished:
                run.add(*with_line(whole))
            assert run.finished == {"c": {"conv_id": "c", "questions": [{"turn": 0, "question": "?"}]}}
    assert json.loads((path / TURNS).read_text()) == whole
