"""Tiny random models, made where a test needs them. Importing this skips the tests without the extra `neural`."""

import atexit
import shutil
import string
import tempfile
from functools import cache
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra neural")
transformers = pytest.importorskip("transformers", reason="needs the extra neural")

from convinse.encoder.checkpoint import quiet  # noqa: E402
from convinse.encoder.joint import JointConfig, JointModel  # noqa: E402

torch.set_num_threads(1)  # models so small gain nothing by more, and lose much where the cores are shared

WORDS = """the a of in and who what when where directed wrote written played author director film book novel song born
country city united kingdom england france south africa hobbit tolkien titanic james cameron peter jackson lord rings
actor cast member publication date place birth award won one two three four five six seven eight nine ten""".split()
_SIGNS = string.ascii_lowercase + string.digits + string.punctuation + "абвгдеийклмнопрстуяéü中文字的"
LONG = 512  # tokens that the models can take


def word_pieces(max_length: int = LONG):
    """An uncased BERT tokenizer that knows some words, and letters."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *_SIGNS, *(f"##{sign}" for sign in _SIGNS)]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    return transformers.BertTokenizerFast(vocab=vocabulary, model_max_length=max_length)


def byte_pairs(max_length: int = LONG):
    """A RoBERTa tokenizer: bytes and a few merges."""
    from tokenizers.pre_tokenizers import ByteLevel

    pieces = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(ByteLevel.alphabet()), "th", "the", "Ġt", "er"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    merges = [("t", "h"), ("th", "e"), ("Ġ", "t"), ("e", "r")]
    return transformers.RobertaTokenizerFast(vocab=vocabulary, merges=merges, model_max_length=max_length)


_HEADS = {
    "sequence-classification": transformers.AutoModelForSequenceClassification,
    "question-answering": transformers.AutoModelForQuestionAnswering,
    "embedding": transformers.AutoModel,
}


def save_model(
    folder: Path,
    kind: str = "bert",
    task: str = "sequence-classification",
    labels: int = 1,
    seed: int = 0,
    storage: str = "float32",
    **config,
) -> Path:
    """A random model of two layers of 32 numbers and its tokenizer; its weights are large, so that scores differ.

    `task` is `joint`, too: all three heads on a BERT; `storage` is then how its weights are stored.
    """
    like_roberta = kind in ("roberta", "xlm-roberta", "mpnet")
    tokenizer = byte_pairs() if like_roberta else word_pieces()
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    if kind == "distilbert":
        sizes = {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64}
    if like_roberta:
        sizes |= {"type_vocab_size": 1, "pad_token_id": tokenizer.pad_token_id}
    positions = LONG + 2 if like_roberta else LONG
    sizes |= {"vocab_size": len(tokenizer), "max_position_embeddings": positions}
    settings = {"initializer_range": 0.4, **sizes, **config}
    if task == "sequence-classification":
        settings["num_labels"] = labels
    with torch.random.fork_rng(devices=[]), quiet():
        torch.manual_seed(seed)
        if task == "joint":
            model = JointModel(JointConfig(**settings)).eval()
        else:
            model = _HEADS[task].from_config(transformers.AutoConfig.for_model(kind, **settings)).eval()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name.endswith("bias"):
                    parameter.normal_(std=0.1)  # they begin as zeros, and zeros hide mistakes
        model.save_pretrained(folder, **({"storage": storage} if task == "joint" else {}))
        tokenizer.save_pretrained(folder)
    return Path(folder)


@cache
def models_folder() -> Path:
    root = Path(tempfile.mkdtemp(prefix="tiny-models-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


@cache
def tiny(*arguments, **options) -> Path:
    """The folder of such a model (see `save_model`), made once a session; not to be written to."""
    return save_model(Path(tempfile.mkdtemp(dir=models_folder())), *arguments, **options)


def copy_of(folder: Path, target: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(folder, target))


CHANGES = {  # of the bytes of a file
    "cut": lambda content: content[: len(content) // 2],
    "noise": lambda content: b"\xff\x00\x17" * 400,
    "empty": lambda content: b"",
}


def inputs(*pairs):
    """Pairs as the models of `word_pieces` take them."""
    return word_pieces()([a for a, _ in pairs], [b for _, b in pairs], padding=True, return_tensors="pt")


def joint_model(folder: Path, **options) -> JointModel:
    """The joint model of a folder, as Hugging Face loads it."""
    with quiet():
        return JointModel.from_pretrained(folder, **options).eval()


def joint(**options) -> Path:
    """The folder of such a joint model, made once a session; not to be written to."""
    return tiny("bert", "joint", **options)


def damage(folder: Path, change) -> Path:
    """Change the tensors of a saved model: `change` gets them as a dictionary."""
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    return folder


def reference_outputs(folder: Path, pairs, max_length: int, task: str = "sequence-classification"):
    """Logits (or token vectors) of pairs as transformers computes them, one by one: the ground truth."""
    with quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model = _HEADS[task].from_pretrained(folder).eval()
    outputs = []
    for pair in pairs:
        # as lists: in a call of its own an empty second text counts as none
        texts = [[pair]] if isinstance(pair, str) else [[pair[0]], [pair[1]]]
        truncation = "only_first" if isinstance(pair, str) else "only_second"
        inputs = tokenizer(*texts, truncation=truncation, max_length=max_length, return_tensors="pt")
        with torch.inference_mode():
            output = model(**inputs)
        outputs.append(output[0][0].numpy())
    return outputs


class Counted:
    """What an engine computes from now on: its batches, as arrays of ids."""

    def __init__(self, engine):
        self.batches = []
        self._start = engine.backend.start
        engine.backend.start = self._noted

    def _noted(self, sequences, places, outputs):
        self.batches.append(sequences.padded(places)[0])
        return self._start(sequences, places, outputs)

    @property
    def sequences(self):
        return sum(len(batch) for batch in self.batches)
