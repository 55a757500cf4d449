"""Models that write, alone and with Fusion-in-Decoder: as transformers does, in batches as one by one, and how they learn."""

import pytest

from convinse.encoder.checkpoint import load_checkpoint, quiet
from convinse.encoder.fusion_in_decoder import FusionInDecoder, answer_loss, cut, fused_states
from convinse.encoder.sequence_to_sequence import Generator, encoded, writing_loss
from convinse.support.errors import ModelError
from refusals import refused
from tiny_models import torch, transformers
from tiny_seq2seq import POSITIONS, writer

CPU, TASK = torch.device("cpu"), "sequence-to-sequence"
KINDS = pytest.mark.parametrize("kind", ["bart", "t5"])


def loaded(kind="bart", **config):
    return load_checkpoint(writer(kind, **config), TASK, "qu_model")


# --- a text for a text

TEXTS = [
    "who directed titanic ||| james cameron ||| when was he born", "a", "", "who wrote the hobbit ||| j r r tolkien",
]  # fmt: skip


def generator(kind="bart", checkpoint=None):
    return Generator(checkpoint or loaded(kind), num_beams=3, device="cpu")


def one_by_one(kind, **options):
    """The text that transformers itself writes for each text alone."""
    folder = writer(kind)
    with quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
        found = []
        for text in TEXTS:
            tokens = model.generate(**tokenizer([text], return_tensors="pt"), do_sample=False, **options)
            found.append(tokenizer.decode(tokens[0], skip_special_tokens=True).strip())
    return found


@KINDS
def test_batches_write_the_texts_of_transformers(kind):
    expected = one_by_one(kind, num_beams=3, max_new_tokens=64, early_stopping=True)
    assert generator(kind).write(TEXTS) == expected
    assert generator(kind).write(TEXTS * 3) == expected * 3  # more than a batch
    assert len(set(expected)) > 1, "a model that always writes the same shows nothing"
    assert generator(kind).write([]) == []


def test_a_long_text_loses_its_beginning():
    text = "who was first ||| " * 40 + "when was he born"
    assert generator().write([text]) == generator().write(["more of the past ||| " * 30 + text])
    tokenizer = loaded().tokenizer
    ids = encoded(tokenizer, [text], 20, CPU)["input_ids"][0]
    assert len(ids) == 20 and (ids[0], ids[-1]) == (tokenizer.bos_token_id, tokenizer.eos_token_id)
    assert tokenizer.decode(ids, skip_special_tokens=True).endswith("when was he born")
    ids = encoded(tokenizer, [text], 20, CPU, cut="right")["input_ids"][0]
    assert tokenizer.decode(ids, skip_special_tokens=True).startswith("who was first")


@KINDS
def test_the_loss_is_the_mean_of_the_tokens(kind):
    checkpoint = loaded(kind)
    written = ("a || b || directed || person", "b", "|| c || wrote ||")
    pairs = list(zip(("who directed it", "where", "who wrote it and when"), written, strict=True))
    with torch.inference_mode():
        loss, tokens = writing_loss(checkpoint.model, checkpoint.tokenizer, pairs, 64, 64)
        alone = [writing_loss(checkpoint.model, checkpoint.tokenizer, [pair], 64, 64) for pair in pairs]
    assert tokens == sum(number for _, number in alone)
    assert loss.item() == pytest.approx(sum(one.item() * number for one, number in alone) / tokens, rel=1e-4)


# --- a text for several texts

READ = [
    "question: who wrote it? context: tolkien wrote the hobbit", "b", "question: where? context: south africa in 1892",
]  # fmt: skip


def fusion(kind="t5", checkpoint=None, budget=None, num_beams=4):
    return FusionInDecoder(checkpoint or loaded(kind), num_beams, "cpu", token_budget=budget)


def states_by_hand(model, tokens):
    """[1, n, d] each text encoded alone by the library, one after the other."""
    alone = [model.get_encoder()(input_ids=torch.tensor([ids])).last_hidden_state for ids in tokens]
    return transformers.modeling_outputs.BaseModelOutput(last_hidden_state=torch.cat(alone, dim=1))


def found_by_the_library(kind, **options):
    checkpoint = loaded(kind)
    tokens = cut(checkpoint.tokenizer, READ, POSITIONS)
    search = {"max_new_tokens": 10, "early_stopping": True, "do_sample": False, **options}
    with torch.inference_mode():
        return checkpoint, checkpoint.model.generate(
            encoder_outputs=states_by_hand(checkpoint.model, tokens), num_return_sequences=search["num_beams"], **search
        )


@KINDS
@pytest.mark.parametrize("budget", [1, 70, 10_000])
def test_the_states_of_texts_together_equal_each_alone(kind, budget):
    checkpoint = loaded(kind)
    tokens = cut(checkpoint.tokenizer, READ, 60)
    with torch.inference_mode():
        states = fused_states(checkpoint.model, tokens, budget)
        expected = states_by_hand(checkpoint.model, tokens).last_hidden_state[0]
    assert states.shape == (sum(map(len, tokens)), 32), "no state of padding is among them"
    assert torch.allclose(states, expected, atol=1e-4)


@KINDS
def test_the_written_answers_equal_the_library(kind):
    checkpoint, found = found_by_the_library(kind, num_beams=4)
    expected = {" ".join(text.split()) for text in checkpoint.tokenizer.batch_decode(found, skip_special_tokens=True)}
    written = fusion(kind).write(READ)
    assert {text for text, _ in written} == expected and len(written) > 1
    chances = [chance for _, chance in written]
    assert chances == sorted(chances, reverse=True) and 0 < sum(chances) <= 1
    for budget in (1, 70):
        again = fusion(kind, budget=budget).write(READ)
        assert [text for text, _ in again] == [text for text, _ in written]
        assert [chance for _, chance in again] == pytest.approx(chances, rel=1e-3)


def test_probabilities_are_products_of_the_tokens():
    options = {"length_penalty": 0.0, "return_dict_in_generate": True, "output_scores": True}
    _, found = found_by_the_library("t5", num_beams=2, **options)
    written = fusion(num_beams=2).write(READ)
    assert [chance for _, chance in written] == pytest.approx(found.sequences_scores.exp().tolist(), rel=1e-3)


@KINDS
def test_the_loss_of_an_answer_and_its_gradient_equal_the_library(kind):
    checkpoint = loaded(kind)
    model, tokens, answer = checkpoint.model, cut(checkpoint.tokenizer, READ, 60), [5, 6, 7]
    expected = 3 * model(encoder_outputs=states_by_hand(model, tokens), labels=torch.tensor([answer])).loss
    names = dict(model.named_parameters())
    expected.backward()
    gradients = {name: weight.grad.clone() for name, weight in names.items() if weight.grad is not None}
    model.zero_grad()
    loss = answer_loss(model, tokens, answer, 70)  # computed again for its gradient, batch by batch
    loss.backward()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-4)
    for name, gradient in gradients.items():
        most = gradient.abs().max().item()
        assert torch.allclose(names[name].grad, gradient, rtol=1e-2, atol=1e-2 * most + 1e-5), name


# --- errors


def test_too_small_a_memory_names_the_setting_to_lower(monkeypatch):
    checkpoint = loaded("t5")

    def generate(**options):
        raise torch.OutOfMemoryError("much\ntoo much")

    monkeypatch.setattr(checkpoint.model, "generate", generate)
    message = refused(ModelError, lambda: fusion(checkpoint=checkpoint).write(READ))
    assert message.startswith("cpu: the memory does not hold 3 evidences with 4 beams; lower token_budget")
    message = refused(ModelError, lambda: generator(checkpoint=checkpoint).write(TEXTS))
    assert message.startswith("cpu: the memory does not hold 4 questions with 3 beams each; lower num_beams")


def test_another_kind_of_model_is_refused():
    checkpoint = loaded("t5")
    checkpoint.model.config.model_type = "led"
    refused(ModelError, lambda: fusion(checkpoint=checkpoint), "a model of type led; ha: seq2seq takes bart or t5")
