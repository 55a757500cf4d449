"""A real server of the interface, `transformers serve`, with models made on the spot."""

import json
import logging
import socket
import time

import pytest

from convinse import Pipeline, load_config
from convinse.encoder.checkpoint import quiet
from loopback import free_port
from patience import PATIENCE
from tiny_models import byte_pairs, torch, transformers

for _package in ("fastapi", "openai", "accelerate"):  # of transformers serve
    pytest.importorskip(_package)

QUESTION, END = "<|assistant|>", "<|end|>"
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}<|assistant|>"


def save_speaker(folder, text):
    """A causal model whose next token depends on the last one alone: behind a question it writes `text`, a token of its own, and ends.

    With `text` None it writes random tokens and does not end.
    """
    with torch.random.fork_rng(devices=[]), quiet():
        torch.manual_seed(0)
        tokenizer = byte_pairs(4096)
        tokenizer.add_special_tokens({"additional_special_tokens": [QUESTION], "eos_token": END})
        if text is not None:
            tokenizer.add_tokens([text])
        tokenizer.chat_template = TEMPLATE
        end = tokenizer.convert_tokens_to_ids(END)
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
            num_key_value_heads=2, max_position_embeddings=4096, eos_token_id=end, pad_token_id=end, bos_token_id=None,
        ))  # fmt: skip
        if text is not None:
            said, question = tokenizer.convert_tokens_to_ids([text, QUESTION])
            with torch.no_grad():
                layer = model.model.layers[0]
                layer.self_attn.o_proj.weight.zero_()
                layer.mlp.down_proj.weight.zero_()
                for place, (before, after) in enumerate(((question, said), (said, end))):
                    for weights, token in ((model.model.embed_tokens.weight, before), (model.lm_head.weight, after)):
                        weights[token].zero_()
                        weights[token, place] = 30.0
        model.generation_config.eos_token_id = end
        model.eval().save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def served():
    """The address of a server in a thread, which takes any folder for a model."""
    from transformers.cli.serve import Serve

    port = free_port()
    level = logging.getLogger("transformers").level
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        server = Serve(host="127.0.0.1", port=port, device="cpu", non_blocking=True)
        until = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < until, "the server does not start"
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/v1"
        server.kill_server()
    logging.getLogger("transformers").setLevel(level)


def config(url, model, **keys):
    return load_config(
        "lexical.yml",
        ha="llm",
        ha_llm={"base_url": url, "model": model, "timeout": float(PATIENCE), "parallel": 2, **keys},
    )


def test_a_served_model_answers_and_its_answer_is_held_to_the_evidence_that_it_cites(served, tmp_path):
    model = save_speaker(tmp_path / "speaker", json.dumps({"answers": [{"answer": "James Cameron", "evidences": [1]}]}))
    with Pipeline(config(served, model)) as pipeline:
        director, writer = pipeline.ask(["Who directed the film Titanic?", "Who wrote The Hobbit?"])["questions"]
    (answer,) = director["pred_answers"]
    assert answer["answer"] == {"id": "Q42574", "label": "James Cameron"} and answer["reasons"] == ["llm"]
    assert "James Cameron" in director["top_evidences"][answer["evidences"][0]]["evidence_text"]
    assert director["ha_tokens"]["prompt"] > 100 and director["ha_tokens"]["completion"] > 0
    # the same words are no answer where the evidence does not contain them
    assert writer["pred_answers"] == [] and "no evidence that it cites" in writer["abstained"]["reason"]


def test_a_model_that_does_not_end_is_cut(served, tmp_path, caplog):
    model = save_speaker(tmp_path / "random", None)
    with Pipeline(config(served, model, extra={"max_tokens": 8})) as pipeline:
        (turn,) = pipeline.ask(["Who directed the film Titanic?"])["questions"]
    assert turn["abstained"] == {"reason": "what the language model wrote is not an answer"}
    assert "cut before its end; raise extra.max_tokens" in caplog.text
