"""Tiny random BART and T5 models. Importing this skips the tests without the extra `neural`."""

import string
import tempfile
from functools import cache
from pathlib import Path

from convinse.encoder.checkpoint import quiet
from tiny_models import byte_pairs, models_folder, torch, transformers

POSITIONS = 128  # tokens that the models can take


def letters():
    """A T5 tokenizer that knows single letters."""
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0)]
    pieces += [(sign, -3.0) for sign in string.ascii_letters + string.digits + string.punctuation]
    return transformers.T5TokenizerFast(vocab=pieces, extra_ids=0, model_max_length=POSITIONS)


def save_writer(folder, kind="bart", headless=False, seed=0, **config):
    """A random model of two layers of 32 numbers and its tokenizer; its weights are large, so that its texts differ.

    Without its head (`headless`) a BART is stored as the base model that others are trained from.
    """
    sizes = {"d_model": 32, "dropout": 0.0}
    with torch.random.fork_rng(devices=[]), quiet():
        torch.manual_seed(seed)
        if kind == "bart":
            tokenizer = byte_pairs(POSITIONS)
            layers = {f"{side}_{name}": value for side in ("encoder", "decoder")
                      for name, value in (("layers", 2), ("attention_heads", 2), ("ffn_dim", 64))}  # fmt: skip
            settings = {"vocab_size": len(tokenizer), "max_position_embeddings": POSITIONS, "init_std": 0.4,
                        **sizes, **layers, **config}  # fmt: skip
            name = "BartModel" if headless else "BartForConditionalGeneration"
            model = getattr(transformers, name)(transformers.BartConfig(**settings))
        else:
            tokenizer = letters()
            settings = {"vocab_size": len(tokenizer), "d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2,
                        "dropout_rate": 0.0, "decoder_start_token_id": 0, "initializer_factor": 3.0, **config}  # fmt: skip
            model = transformers.T5ForConditionalGeneration(transformers.T5Config(**settings))
        model.eval().save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return Path(folder)


@cache
def writer(*arguments, **options):
    """The folder of such a model (see `save_writer`), made once a session; not to be written to."""
    return save_writer(Path(tempfile.mkdtemp(dir=models_folder())), *arguments, **options)
