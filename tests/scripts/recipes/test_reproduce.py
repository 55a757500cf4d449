"""One's own figures beside the published ones."""

import json

import pytest

from recipes import reproduce
from written import write

METRICS = {"num_questions": 12, "p_at_1": 0.25, "mrr": 0.3754, "h_at_5": 0.5, "answer_presence": 0.75, "domains": {}}


@pytest.fixture
def run(workdir):
    """Write `metrics.json` of a combination of sources; returns its folder."""

    def make(sources, content=METRICS):
        folder = workdir / "results" / "mine" / sources
        write(folder / "metrics.json", content)
        return folder

    return make


def printed(capsys, *arguments):
    reproduce.main([str(argument) for argument in arguments])
    lines = [line for line in capsys.readouterr().out.splitlines() if "0." in line]
    return [[cell.strip() for cell in line.strip("│┃ ").split("│")] for line in lines]


def test_all_combinations_of_a_run_stand_below_the_published_figures(run, capsys):
    run("kb")
    folder = run("kb_text_table_info", {**METRICS, "p_at_1": 0.3, "num_questions": 4})
    assert printed(capsys, folder.parent) == [
        ["CONVINSE kb_text_table_info, as published", "", "0.342", "0.365", "0.386"],
        ["mine kb_text_table_info", "4", "0.300", "0.375", "0.500"],
        ["mine kb", "12", "0.250", "0.375", "0.500"],
    ]


def test_one_combination_alone_and_from_within(run, capsys, monkeypatch):
    folder = run("kb")
    (own,) = printed(capsys, folder)[1:]
    assert own[0] == "mine kb"
    monkeypatch.chdir(folder.parent)
    assert printed(capsys, ".")[1:] == [own]


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", json.dumps({**METRICS, "mrr": "high"})])
def test_what_is_no_metrics_file_is_refused_by_name(run, content):
    folder = run("kb", content)
    with pytest.raises(SystemExit) as caught:
        reproduce.main([str(folder)])
    message = str(caught.value)
    assert message.startswith(f"reproduce: {folder / 'metrics.json'}: ")
    assert "\n" not in message


def test_a_folder_without_a_run_is_refused(workdir):
    with pytest.raises(SystemExit, match="run the pipeline first"):
        reproduce.main([str(workdir / "missing")])
