"""Fusion-in-Decoder: the states of all texts together, the attention to them, what is written and learned."""

import pytest

from convinse.config import HaSeq2Seq
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.fusion_in_decoder import FusionInDecoder, answer_loss, cut, fused_states
from convinse.support.errors import ModelError
from refusals import refused
from tiny_models import torch, transformers
from tiny_seq2seq import writer

KINDS = pytest.mark.parametrize("kind", ["bart", "t5"])
TEXTS = [
    "question: who wrote it? context: tolkien wrote the hobbit",
    "b",
    "question: where? context: south africa in 1892",
]


def loaded(kind, **config):
    return load_checkpoint(writer(kind, **config), "sequence-to-sequence", "ha_model")


def fusion(kind="t5", checkpoint=None, budget=None, **settings):
    wanted = HaSeq2Seq(**{"max_input_length": 60, "max_output_length": 8, "num_beams": 4, **settings})
    return FusionInDecoder(checkpoint or loaded(kind), wanted, "cpu", token_budget=budget)


def states_by_hand(model, tokens):
    """[1, n, d] each text encoded alone by the library, one after the other."""
    alone = [model.get_encoder()(input_ids=torch.tensor([own])).last_hidden_state for own in tokens]
    return transformers.modeling_outputs.BaseModelOutput(last_hidden_state=torch.cat(alone, dim=1))


# --- reading


@KINDS
@pytest.mark.parametrize("budget", [1, 70, 10_000])
def test_texts_together_are_as_each_alone(kind, budget):
    checkpoint = loaded(kind)
    tokens = cut(checkpoint.tokenizer, TEXTS, 60)
    with torch.inference_mode():
        states = fused_states(checkpoint.model, tokens, budget)
        expected = states_by_hand(checkpoint.model, tokens).last_hidden_state[0]
    assert states.shape == (sum(map(len, tokens)), 32), "no state of padding is among them"
    assert torch.allclose(states, expected, atol=1e-4)


def test_too_long_a_text_loses_its_end():
    tokenizer = loaded("t5").tokenizer
    (short,), (whole,) = cut(tokenizer, TEXTS[:1], 20), cut(tokenizer, TEXTS[:1], 100)
    assert len(short) == 20 and short[:-1] == whole[:19] and short[-1] == tokenizer.eos_token_id


# --- writing


@KINDS
def test_what_is_written_is_what_the_library_finds(kind):
    checkpoint = loaded(kind)
    tokens = cut(checkpoint.tokenizer, TEXTS, 60)
    with torch.inference_mode():
        found = checkpoint.model.generate(
            encoder_outputs=states_by_hand(checkpoint.model, tokens), num_beams=4, num_return_sequences=4, max_new_tokens=8,
            early_stopping=True, do_sample=False,
        )  # fmt: skip
    expected = {" ".join(text.split()) for text in checkpoint.tokenizer.batch_decode(found, skip_special_tokens=True)}
    written = fusion(kind).write(TEXTS)
    assert {own.text for own in written} == expected and len(written) > 1
    chances = [own.probability for own in written]
    assert chances == sorted(chances, reverse=True) and 0 < sum(chances) <= 1


def test_probabilities_are_those_of_the_tokens():
    checkpoint = loaded("t5")
    tokens = cut(checkpoint.tokenizer, TEXTS, 60)
    with torch.inference_mode():
        found = checkpoint.model.generate(
            encoder_outputs=states_by_hand(checkpoint.model, tokens), num_beams=2, num_return_sequences=2, max_new_tokens=8,
            do_sample=False, early_stopping=True, length_penalty=0.0, return_dict_in_generate=True, output_scores=True,
        )  # fmt: skip
    written = fusion(num_beams=2).write(TEXTS)
    assert [own.probability for own in written] == pytest.approx(found.sequences_scores.exp().tolist(), rel=1e-3)


def test_batches_change_nothing():
    found = [fusion(budget=budget).write(TEXTS) for budget in (None, 1, 70)]
    assert [[own.text for own in written] for written in found] == [[own.text for own in found[0]]] * 3
    for written in found:
        assert [own.probability for own in written] == pytest.approx([own.probability for own in found[0]], rel=1e-3)


def test_all_texts_are_read():
    assert fusion().write(TEXTS) != fusion().write(TEXTS[:2])
    assert len(fusion(num_beams=1).write(TEXTS)) == 1
    assert fusion().write([]) == []


# --- learning


@KINDS
def test_the_loss_is_that_of_the_library(kind):
    checkpoint = loaded(kind)
    model, tokens, wanted = checkpoint.model, cut(checkpoint.tokenizer, TEXTS, 60), [5, 6, 7]
    expected = 3 * model(encoder_outputs=states_by_hand(model, tokens), labels=torch.tensor([wanted])).loss
    names = dict(model.named_parameters())
    expected.backward()
    gradients = {name: weight.grad.clone() for name, weight in names.items() if weight.grad is not None}
    model.zero_grad()
    loss = answer_loss(model, tokens, wanted, 70)  # computed again for its gradient, batch by batch
    loss.backward()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-4)
    for name, gradient in gradients.items():
        most = gradient.abs().max().item()
        assert torch.allclose(names[name].grad, gradient, rtol=1e-2, atol=1e-2 * most + 1e-5), name


# --- errors


def test_a_memory_that_is_too_small_is_said(monkeypatch):
    checkpoint = loaded("t5")

    def fail(**options):
        raise torch.OutOfMemoryError("much\ntoo much")

    monkeypatch.setattr(checkpoint.model, "generate", fail)
    message = refused(ModelError, lambda: fusion(checkpoint=checkpoint).write(TEXTS))
    assert message.startswith("cpu: the memory does not hold 3 evidences with 4 beams; lower token_budget")


def test_another_kind_of_model_is_refused():
    checkpoint = loaded("t5")
    checkpoint.model.config.model_type = "led"
    refused(ModelError, lambda: fusion(checkpoint=checkpoint), "a model of type led; ha: seq2seq takes bart or t5")
