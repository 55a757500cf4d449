"""The commands as a user types them: exit status, output, error lines, resuming, interrupting."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from convinse.cli import develop, main
from handmade import dump_bytes, world
from patience import PATIENCE
from places import ROOT
from written import json_lines, names, read_json, write

SMALL = ["--limit", "2", "--quiet"]
slow = partial(pytest.param, marks=pytest.mark.slow)


@pytest.fixture
def small(workdir):
    return write(workdir / "my.yml", "name: mine\nevs_max_evidences: 10\n").parent


def process(*arguments, kind=subprocess.run, close=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **variables):
    """A process of the command, run to its end unless `kind` starts it alone; its output goes by the buffer."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "", **variables}
    command = [sys.executable, "-m", "convinse", *arguments]
    if close:
        command = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    return kind(command, env=environment, text=True, stdout=stdout, stderr=stderr)


def test_pipeline_writes_turns_metrics_and_a_table(small, command):
    out = command("pipeline", "kb_text_info", "my.yml", *SMALL)
    assert "P@1" in out and "answer presence" in out and "answer in info" in out
    folder = small / "results/mine/kb_text_info"
    conversations = json_lines(folder / "turns.jsonl")
    assert len(conversations) == 2 and all(len(c["questions"]) == 5 for c in conversations)
    for turn in (turn for c in conversations for turn in c["questions"]):
        assert {e["source"] for e in turn["top_evidences"]} <= {"kb", "text", "info"}
        assert len(turn["top_evidences"]) <= 10
        measures = {"answer_presence", "p_at_1", "mrr", "h_at_5"}
        assert {"structured_representation", "pred_answers", *measures} <= turn.keys()
    metrics = read_json(folder / "metrics.json")
    assert metrics["num_questions"] == 10
    hits = sum(turn["p_at_1"] for conversation in conversations for turn in conversation["questions"])
    assert metrics["p_at_1"] == pytest.approx(hits / 10, abs=1e-4)
    assert set(metrics["answer_presence_per_src"]) == {"kb", "text", "info"}
    assert {"qu", "ers", "ha", "total"} == metrics["seconds"].keys()


@pytest.mark.parametrize("words", [["my.yml", "info_kb"], ["kb_info", "my.yml"], ["kb_infobox", "my.yml"]])
def test_sources_and_configuration_in_either_order(small, words):
    assert main(["pipeline", *words, *SMALL]) == 0
    assert (small / "results/mine/kb_info/metrics.json").is_file()


def test_a_run_is_the_same_under_both_names_of_a_setting_and_however_it_is_computed(small):
    def earlier(settings):
        write("my.yml", f"name: mine\n{settings}\n")
        assert main(["pipeline", "kb", "my.yml", "--limit", "1", "--quiet"]) == 0
        return len(list(Path("results/mine/kb").glob("earlier-*")))

    same = ("evs_precision: bf16", "precision: bf16", "precision: bf16\nbackend: torch\ntoken_budget: 9\ndevice: cpu")
    assert [earlier(settings) for settings in same] == [0, 0, 0]
    assert earlier("precision: fp32") == 1


def test_settings_on_the_command_line_are_those_of_the_run(small, command):
    command(
        "pipeline", "kb", "my.yml", "--limit", "1", "--quiet", "--set", "name=other", "--set", "evs_max_evidences=3"
    )
    record = read_json("results/other/kb/run.json")
    assert record["settings"]["evs_max_evidences"] == 3 and "evs_max_evidences=3" not in record["settings"]
    assert record["begun"] and record["command"]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_the_commands(shell, command):
    pytest.importorskip("shtab")
    printed = command("completion", shell)
    assert "pipeline" in printed and "--set" in printed


def test_predicted_answers_do_not_mix_with_gold_ones(small):
    assert main(["pipeline", "kb_text", "my.yml", "--limit", "8", "--quiet"]) == 0
    gold = json_lines("results/mine/kb_text/turns.jsonl")
    assert main(["pipeline", "kb_text", "my.yml", "--pred-answers", "--limit", "8", "--quiet"]) == 0
    predicted = json_lines("results/mine/kb_text/turns.jsonl")
    assert gold != predicted
    assert json_lines(next(Path("results/mine/kb_text").glob("earlier-*")) / "turns.jsonl") == gold


def test_natural_questions_come_in_two_halves(small, command):
    turn = {"turn": 0, "question": "Who directed Titanic?"}
    answerable = {**turn, "kind": "role", "answers": [{"id": "Q42574", "label": "James Cameron"}]}
    parts = {"dev": answerable, "measured": {**turn, "kind": "unanswerable", "answers": []}}
    write("natural.json", [{"conv_id": part, "part": part, "questions": [one]} for part, one in parts.items()])
    run = ["pipeline", "kb", "my.yml", "--quiet", "--set", "benchmark_path=.", "--part"]
    out = command(*run, "natural-dev")
    assert out.startswith("1 questions of natural.json (natural-dev part), with gold answers of earlier turns\n")
    assert "│ role " in out and "without an answer" not in out
    assert "1 questions without an answer: abstained on " in command(*run, "natural")
    assert names("results/mine") == ["kb-natural", "kb-natural-dev"]


def test_train_all_skips_modules_without_a_base(small, command):
    lines = command("train", "all", "kb", "lexical.yml").splitlines()
    assert lines[0] == "qu: 'slots' has nothing to train" and lines[2] == "ha: 'entity_voting' has nothing to train"
    assert lines[1].startswith("ers: ") and "set evs_training: {base: " in lines[1]


def wait_for_lines(path, number, process):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= number:
            return
        time.sleep(0.02)
    raise AssertionError(f"no {number} conversations in {path}: {process.communicate()}")


SLOW = (
    "import time\n"
    "from convinse.evidence_retrieval_scoring.native import NativeERS\n"
    "class Slow(NativeERS):\n"
    "    def inference_on_turn(self, turn, sources):\n"
    "        time.sleep(0.1)\n"
    "        return super().inference_on_turn(turn, sources)\n"
)


@pytest.mark.parametrize(
    "how, status", [(signal.SIGINT, 130), pytest.param(signal.SIGKILL, -signal.SIGKILL, marks=pytest.mark.slow)]
)
def test_a_stopped_run_keeps_finished_conversations(small, how, status):
    Path("slow.py").write_text(SLOW)
    Path("my.yml").write_text("name: mine\ners: slow:Slow\n")
    file = small / "results/mine/kb/turns.jsonl"
    running = process("pipeline", "kb", "my.yml", kind=subprocess.Popen)
    wait_for_lines(file, 2, running)
    running.send_signal(how)
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == status, err
    assert "Traceback" not in err
    if how == signal.SIGINT:
        assert "run the command again" in err
    complete = file.read_bytes()[: file.read_bytes().rfind(b"\n") + 1]
    assert complete.count(b"\n") >= 2
    count = complete.count(b"\n") + 1
    assert main(["pipeline", "kb", "my.yml", "--limit", str(count), "--quiet"]) == 0
    assert file.read_bytes().startswith(complete) and file.read_bytes().count(b"\n") == count


@pytest.mark.parametrize(
    "arguments, closed, status",
    [
        (["ask", "--sources", "kb", "--config", "lexical.yml", "Who directed Titanic?"], ["stdout"], 1),
        slow(["--version"], ["stdout"], 0),
        slow(["pipeline", "no.yml"], ["stderr"], 1),
        slow(["pipeline", "kb", "lexical.yml", "--limit", "1"], ["stdout", "stderr"], 1),  # logs and a table
        slow(["nonsense"], ["stderr"], 2),
    ],
)
def test_a_closed_pipe_is_no_traceback(small, arguments, closed, status):
    """The reader has gone before anything is written, and all of it fits into the buffer: only the last flush fails."""
    reader, writer = os.pipe()
    os.close(reader)
    done = process(*arguments, **dict.fromkeys(closed, writer))
    os.close(writer)
    assert done.returncode == status, done.stderr
    assert not done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_on_a_full_disk_is_one_line(small):
    with Path("/dev/full").open("w") as full:
        done = process("ask", "--config", "lexical.yml", "Who directed Titanic?", stdout=full)
    assert (done.returncode, done.stderr) == (1, "convinse: No space left on device\n")


HEAVY = "numpy bm25s torch transformers tokenizers safetensors rich msgspec yaml selectolax sqlite3 rapidfuzz"


def test_help_loads_nothing_heavy(run_python):
    code = "import sys, convinse.cli\ntry: convinse.cli.main(['--help'])\nexcept SystemExit: pass\nprint(*sys.modules, sep='\\n')"
    loaded = set(run_python(code).split())
    assert "convinse.cli" in loaded
    assert not loaded & set(HEAVY.split())


@pytest.mark.parametrize("command", [["bench", "kb"], ["test"], ["train", "embedded", "--data", "d", "--output", "o"]])
def test_commands_that_need_a_checkout_say_so(command, workdir, monkeypatch, capsys):
    monkeypatch.setattr(develop, "root", lambda: workdir)
    assert main(command) == 1
    assert capsys.readouterr().err.startswith(
        f"convinse: {' '.join(command[:2]) if command[0] == 'train' else command[0]} needs a checkout"
    )


ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m"


def test_texts_are_shown_without_control_characters(workdir, command):
    documents = world()
    for document in documents:
        for term in (document["labels"] if document["type"] == "property" else document["descriptions"] or {}).values():
            term["value"] += ESCAPE
    command("kb", "build", write("dump.json", dump_bytes(documents)), "--output", "kb", "--quiet")
    printed = command("kb", "search", "kb", "Titanic")
    assert printed.count("\ufffd]0;owned\ufffd") > 3
    assert not [letter for letter in printed if not letter.isprintable() and letter != "\n"]


@pytest.mark.parametrize(
    "arguments", [slow(["--version"]), ["ask", "Who directed Titanic?", "--config", "lexical.yml"]]
)
def test_a_closed_standard_output_is_one_line(workdir, arguments):
    done = process(*arguments, "--quiet", close=True)
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr and done.stderr.count("\n") <= 1
    assert arguments[0] == "--version" or (done.returncode, done.stderr) == (1, "convinse: Bad file descriptor\n")


@pytest.mark.parametrize("json", [slow(False), True])
def test_an_ascii_standard_output_gets_escapes(workdir, json):
    arguments = ["ask", "Who directed Amélie 😀?", "--config", "lexical.yml", "--quiet", *["--json"] * json]
    done = process(*arguments, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "") and r"Am\u00e9lie \ud83d\ude00?" in done.stdout


def test_an_argument_that_is_no_text_is_one_line(command_error):
    assert command_error("ask", "Who\udcff?") == "an argument is not UTF-8 text; write it, or name the file, in UTF-8"
