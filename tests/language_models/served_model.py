"""A language model made on the spot, of a few thousand weights, that answers every chat with one text.

Importing this skips the tests without the packages that `transformers serve` needs (extra `clients`).
"""

import json

import pytest

from convinse.encoder.checkpoint import quiet
from tiny_models import byte_pairs, torch, transformers

for _package in ("fastapi", "openai", "accelerate"):
    pytest.importorskip(_package)

ASKED, END = "<|assistant|>", "<|end|>"
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}<|assistant|>"


def save_speaker(folder, text):
    """A causal model whose next token depends on the last one alone: behind a question it writes `text`, a token of its own, and ends.

    With `text` None it writes random tokens and does not end.
    """
    with torch.random.fork_rng(devices=[]), quiet():
        torch.manual_seed(0)
        tokenizer = byte_pairs(4096)
        tokenizer.add_special_tokens({"additional_special_tokens": [ASKED], "eos_token": END})
        if text is not None:
            tokenizer.add_tokens([text])
        tokenizer.chat_template = TEMPLATE
        end = tokenizer.convert_tokens_to_ids(END)
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
            num_key_value_heads=2, max_position_embeddings=4096, eos_token_id=end, pad_token_id=end, bos_token_id=None,
        ))  # fmt: skip
        if text is not None:
            said, question = tokenizer.convert_tokens_to_ids([text, ASKED])
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


def says(answer, *numbers):
    """The text of an answer that cites evidences by their numbers."""
    return json.dumps({"answers": [{"answer": answer, "evidences": list(numbers)}]})
