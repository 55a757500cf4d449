"""A pipeline in another process: the same results or none, and a cache of its own on another machine."""

import json
import socket
from contextlib import closing
from pathlib import Path

import pytest

from convinse.batch_runner import Batch, BatchRunner, open_like
from convinse.config import load_config
from convinse.experiment import read_part
from convinse.support.errors import DataError
from refusals import refused

HERE = socket.gethostname()


@pytest.fixture
def config(workdir):
    return load_config("lexical.yml", ers_cache_path="cache")


def test_a_batch_has_its_conversations_and_its_own_seconds(config):
    batch = Batch(read_part(config, "dev")[:1], ["kb"], True, None, "ha")
    with closing(BatchRunner(config)) as runner:
        first, second = runner(batch), runner(batch)
        whole = runner.pipeline.seconds
    assert first.conversations == second.conversations
    kept, line = first.conversations[0]
    written = json.loads(line)["questions"]
    assert all("pred_answers" in turn and "top_evidences" not in turn for turn in kept["questions"])
    assert [turn.pop("top_evidences") != [] for turn in written] and written == kept["questions"]
    for stage in ("qu", "ers", "ha"):
        assert first.seconds[stage] + second.seconds[stage] == pytest.approx(whole[stage])


def test_where_everything_is_the_same_a_pipeline_is_opened(config):
    with closing(BatchRunner(config)) as runner:
        made_from = runner.origins()
    with closing(open_like(config, made_from, HERE)) as there:
        assert there.origins() == made_from
        assert there.pipeline.config == config


@pytest.mark.parametrize("name", ["knowledge base", "program", "models"])
def test_where_something_is_another_none_is(config, name):
    with closing(BatchRunner(config)) as runner:
        made_from = runner.origins() | {name: "another"}
    refused(DataError, lambda: open_like(config, made_from, HERE), f"another {name} is found here", "every node")


def test_a_missing_knowledge_base_is_told(config, workdir):
    with closing(BatchRunner(config)) as runner:
        made_from = runner.origins()
    elsewhere = load_config("lexical.yml", kb_path=str(workdir / "none"))
    refused(DataError, lambda: open_like(elsewhere, made_from, HERE), "another knowledge base is found here")


def test_another_machine_keeps_its_cache_to_itself(config, workdir, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(workdir / "own"))
    with closing(BatchRunner(config)) as runner:
        made_from = runner.origins()
    with closing(open_like(config, made_from, "another machine")) as there:
        path = Path(there.pipeline.config.ers_cache_path)
    assert path.parent == workdir / "own" / "convinse" / HERE
