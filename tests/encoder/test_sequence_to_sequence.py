"""Models that write: loaded, computed in batches as one by one, and what they learn by."""

import pytest

from convinse.config import QuSr
from convinse.encoder.checkpoint import load_checkpoint, quiet
from convinse.encoder.sequence_to_sequence import Generator, encoded, writing_loss
from convinse.support.errors import ModelError
from refusals import refused
from tiny_models import copy_of, damage, torch, transformers
from tiny_seq2seq import POSITIONS, writer

BORN = "who directed titanic ||| james cameron ||| when was he born"
TEXTS = [BORN, "a", "", "who wrote the hobbit ||| j r r tolkien"]
CPU, TASK = torch.device("cpu"), "sequence-to-sequence"


def loaded(kind="bart", **config):
    return load_checkpoint(writer(kind, **config), "sequence-to-sequence", "qu_model")


def generator(kind="bart", checkpoint=None, **settings):
    wanted = {"num_beams": 3, "no_repeat_ngram_size": 0, "max_output_length": 12, **settings}
    return Generator(checkpoint or loaded(kind), QuSr(**wanted), "cpu")


def one_by_one(kind, **options):
    """What transformers itself writes for each text alone."""
    folder = writer(kind)
    with quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
        found = []
        for text in TEXTS:
            tokens = model.generate(**tokenizer([text], return_tensors="pt"), do_sample=False, **options)
            found.append(tokenizer.decode(tokens[0], skip_special_tokens=True).strip())
    return found


# --- loading


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_both_kinds_are_loaded(kind):
    checkpoint = loaded(kind)
    assert checkpoint.missing == () and checkpoint.max_length == POSITIONS
    assert {parameter.dtype for parameter in checkpoint.model.parameters()} == {torch.float32}


def test_a_base_model_has_all_that_writing_takes():
    assert loaded(headless=True).missing == ()


@pytest.mark.parametrize(
    ("kind", "name"),
    [("bart", "model.decoder.layers.1.fc2.weight"), ("t5", "decoder.block.1.layer.2.DenseReluDense.wo.weight")],
)
def test_a_missing_weight_is_named(tmp_path, kind, name):
    folder = damage(copy_of(writer(kind), tmp_path / "model"), lambda tensors: tensors.pop(name))
    refused(ModelError, lambda: load_checkpoint(folder, TASK, "qu_model"), f"{name} missing")


# --- writing


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_batches_write_what_is_written_one_by_one(kind):
    found = one_by_one(kind, num_beams=3, max_new_tokens=12, early_stopping=True)
    for batch in (1, 3, 10):
        assert generator(kind, batch_size=batch).write(TEXTS) == found
    assert len(set(found)) > 1, "a model that always writes the same shows nothing"


def test_the_search_is_that_of_the_settings():
    settings = {"num_beams": 1, "no_repeat_ngram_size": 1, "max_output_length": 7}
    found = generator(**settings).write(TEXTS)
    assert found == one_by_one("bart", num_beams=1, no_repeat_ngram_size=1, max_new_tokens=7)
    assert found != generator(num_beams=1, max_output_length=7).write(TEXTS)


def test_nothing_to_write():
    assert generator().write([]) == []


def test_a_long_text_loses_its_beginning():
    text = "who was first ||| " * 40 + "when was he born"
    assert generator().write([text]) == generator().write(["more of the past ||| " * 30 + text])
    checkpoint = loaded()
    ids = encoded(checkpoint.tokenizer, [text], 20, CPU)["input_ids"][0]
    assert len(ids) == 20
    assert ids[0] == checkpoint.tokenizer.bos_token_id and ids[-1] == checkpoint.tokenizer.eos_token_id
    assert checkpoint.tokenizer.decode(ids, skip_special_tokens=True).endswith("when was he born")
    cut = encoded(checkpoint.tokenizer, [text], 20, CPU, cut="right")["input_ids"][0]
    assert checkpoint.tokenizer.decode(cut, skip_special_tokens=True).startswith("who was first")


def test_a_memory_that_is_too_small_is_said(monkeypatch):
    checkpoint = loaded()

    def fail(**options):
        raise torch.OutOfMemoryError("much\ntoo much")

    monkeypatch.setattr(checkpoint.model, "generate", fail)
    with pytest.raises(ModelError, match="cpu: the memory does not hold 4 questions with 3 beams each; lower qu_sr"):
        generator(checkpoint=checkpoint).write(TEXTS)


# --- learning


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_the_loss_is_the_mean_of_the_tokens(kind):
    checkpoint = loaded(kind)
    written = ("a || b || directed || person", "b", "|| c || wrote ||")
    pairs = list(zip(("who directed it", "where", "who wrote it and when"), written, strict=True))
    with torch.inference_mode():
        loss, tokens = writing_loss(checkpoint.model, checkpoint.tokenizer, pairs, 64, 64)
        alone = [writing_loss(checkpoint.model, checkpoint.tokenizer, [pair], 64, 64) for pair in pairs]
    assert tokens == sum(number for _, number in alone)
    assert loss.item() == pytest.approx(sum(one.item() * number for one, number in alone) / tokens, rel=1e-4)


def test_what_is_too_long_to_be_written_loses_its_end():
    checkpoint = loaded()
    with torch.inference_mode():
        one = writing_loss(checkpoint.model, checkpoint.tokenizer, [("who", "abcdefgh" * 4)], 64, 6)
        other = writing_loss(checkpoint.model, checkpoint.tokenizer, [("who", "abcdefgh" * 9)], 64, 6)
    assert one == other and one[1] == 6
