"""Hugging Face checkpoints: found, checked and loaded, from safetensors only and without remote code."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ..config import SNAPSHOT, resolve
from ..records.ranked_rows import RowForm
from ..support.errors import ModelError, missing_extra, one_line
from ..support.files import recover
from ..support.jsonlines import JSON_ERRORS
from ..support.manifest import BY_HAND, check_folder, recorded_sha256

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

Task = Literal["sequence-classification", "question-answering", "embedding", "sequence-to-sequence"]
_MODEL_CLASSES = {
    "sequence-classification": "AutoModelForSequenceClassification",
    "question-answering": "AutoModelForQuestionAnswering",
    "embedding": "AutoModel",
    "sequence-to-sequence": "AutoModelForSeq2SeqLM",
}
_VOCABULARIES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
)
YES_NO, ANSWER_TYPE, REWRITE = HEADS = ("yes_no.safetensors", "answer_type.safetensors", "rewrite.safetensors")
# heads that a joint model may have (see `encoder.heads`): their names and their files
HEAD_FILES = {
    "yes_no": ("yes/no", YES_NO),
    "answer_type": ("answer type", ANSWER_TYPE),
    "rewrite": ("rewrite", REWRITE),
}
RANKINGS = (
    "answers.json",
    "yes_no.json",
    "referents.json",
)  # learned over a model: they change nothing that it computes
_AGAIN = "train or copy it again"
_NO_LIMIT = 10**6  # tokenizers without a length limit report a number beyond


@dataclass(frozen=True)
class Checkpoint:
    """A loaded model, on the CPU in fp32, with its fast tokenizer and the most tokens that it can take."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    max_length: int
    model_id: str  # changes when the weights do: the hash of a folder's files, or hub name and commit
    folder: Path | None  # None for a model from the hub
    missing: tuple[str, ...] = ()  # names of weights that were made anew


def model_path(name: str | Path) -> str:
    """Return the folder of a model, or its hub name; `snapshot:NAME` lies in the package."""
    path = str(name)
    if path.startswith((SNAPSHOT, "~")):
        path = str(resolve(path))
    recover(Path(path))
    return path


def load_checkpoint(
    name: str | Path,
    task: Task,
    key: str = "model",
    *,
    new_head: bool = False,
    labels: int | None = None,
    seed: int = 42,
) -> Checkpoint:
    """Load a folder with `config.json`, `model.safetensors` and a tokenizer, a hub name, or `snapshot:NAME`.

    Args:
        key: the configuration key (or parameter) that named it, for messages.
        new_head: whether a missing head, or one of another size, is made anew (for training) instead of being an error.
        labels, seed: outputs and seed of a new head.

    Raises:
        ModelError: the model or a file of it is missing or damaged, or it has other heads.
        DependencyError: the optional packages are not installed.
    """
    source = model_path(name)
    folder = Path(source)
    where = f"{key}: {name}"
    local = folder.exists() or str(name).startswith((".", "/", "~", SNAPSHOT)) or source.count("/") > 1
    if local:
        _check_folder(folder, where)
    torch, transformers = _libraries()
    options = {"num_labels": labels} if labels is not None else {}
    try:
        with quiet(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)  # a new head is random
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False)
            model, info = getattr(transformers, _MODEL_CLASSES[task]).from_pretrained(
                source,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
                dtype="float32",
                ignore_mismatched_sizes=True,  # they are an error below, with their names
                **options,
            )
    except Exception as error:  # a broken file fails anywhere in two libraries; their own words are what helps
        cause = one_line(error).split(" Model type should be one of")[0]  # all that transformers knows follow there
        raise ModelError(
            f"{where}: cannot be loaded ({type(error).__name__}: {cause}); give a folder with model.safetensors, config.json "
            "and tokenizer.json, or a hub name that this machine can reach"
        ) from error
    missing = _missing_weights(model, info, task, new_head, where)
    _check_tokenizer(model, tokenizer, where)
    model_id = folder_id(folder) if local else f"{name}@{getattr(model.config, '_commit_hash', None)}"
    positions = getattr(model.config, "max_position_embeddings", None) or _NO_LIMIT
    if model.config.model_type in ("roberta", "xlm-roberta", "camembert", "mpnet", "longformer"):
        positions -= (model.config.pad_token_id or 0) + 1  # their positions begin after the padding's
    longest = min(positions, tokenizer.model_max_length, _NO_LIMIT)
    return Checkpoint(model, tokenizer, longest, model_id, folder if local else None, missing)


def _missing_weights(model: Any, info: dict[str, Any], task: Task, new_head: bool, where: str) -> tuple[str, ...]:
    # a new head may be missing, other weights may not
    resized = sorted(key[0] for key in info["mismatched_keys"])
    missing = sorted(name for name in {*info["missing_keys"], *resized} if not name.endswith("position_ids"))
    if task == "embedding":
        missing = [name for name in missing if not name.startswith("pooler.")]
    body = [name for name in missing if name.startswith(f"{model.base_model_prefix}.") and ".pooler." not in name]
    if body or (resized and not new_head):
        names = ", ".join((body or resized)[:3])
        raise ModelError(f"{where}: its weights are not those of its config.json: {names} missing or of another size")
    if missing and not new_head:
        raise ModelError(
            f"{where}: is not a checkpoint for {task}: {', '.join(missing[:3])} missing; train one from it first"
        )
    return tuple(missing)


def _check_tokenizer(model: Any, tokenizer: Any, where: str) -> None:
    rows = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > rows:
        raise ModelError(
            f"{where}: its tokenizer has {len(tokenizer)} words, but the model has {rows}; they do not belong together"
        )
    if not tokenizer.is_fast:
        raise ModelError(f"{where}: has no fast tokenizer; save it with a tokenizer.json")


def _check_folder(folder: Path, where: str) -> None:
    if not folder.is_dir():
        raise ModelError(f"{where}: no such folder; train a model first or give another folder or hub name")
    if not (folder / "config.json").is_file():
        raise ModelError(f"{where}: no config.json there; it is not a model folder")
    if not list(folder.glob("model*.safetensors")):
        raise ModelError(f"{where}: no model.safetensors there; pickled weights are not loaded: convert them")
    if not any((folder / name).is_file() for name in _VOCABULARIES):  # transformers would make an empty one
        raise ModelError(
            f"{where}: no tokenizer.json or vocabulary there; copy them from the model it was trained from"
        )
    check_folder(folder, ModelError, f"{where}: ", f"{_AGAIN}, {BY_HAND}")


def _libraries() -> tuple[Any, Any]:
    try:
        import torch
        import transformers

        from .joint import register
    except ImportError as error:
        fault = f"{error.name} is missing, which models need that convinse export has not made for ONNX Runtime"
        raise missing_extra(fault, "neural") from error
    register()
    return torch, transformers


def save_checkpoint(checkpoint: Checkpoint, folder: Path, **options: Any) -> None:
    """Write the model (safetensors) and its tokenizer as a Hugging Face folder; `options` go to `save_pretrained`."""
    with quiet():
        checkpoint.model.save_pretrained(folder, **options)
        checkpoint.tokenizer.save_pretrained(folder)


def add_tokens(checkpoint: Checkpoint, tokens: Sequence[str], seed: int) -> Checkpoint:
    """Make `tokens` tokens of a checkpoint's tokenizer, in place; the model gets embeddings for new ones."""
    import tokenizers
    import torch

    tokenizer, model = checkpoint.tokenizer, checkpoint.model
    backend = tokenizer.backend_tokenizer
    new = [token for token in tokens if backend.encode(token, add_special_tokens=False).tokens != [token]]
    if new:
        added = [tokenizers.AddedToken(token, special=True, normalized=False) for token in new]
        tokenizer.add_tokens(added, special_tokens=True)
        if len(tokenizer) > len(model.get_input_embeddings().weight):  # type: ignore[arg-type]
            with quiet(), torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    return checkpoint


@contextmanager
def quiet() -> Iterator[None]:
    """Silence bars and reports of the libraries while a model is read or written; our errors name missing weights."""
    from huggingface_hub.utils import logging as hub_logging
    from transformers.utils import logging as transformers_logging

    hub_level = hub_logging.get_verbosity()
    hub_logging.set_verbosity(logging.CRITICAL)
    level, bars = transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity(logging.CRITICAL)
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        hub_logging.set_verbosity(hub_level)
        transformers_logging.set_verbosity(level)
        if bars:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def model_config(folder: Path) -> dict[str, Any]:
    """Return the `config.json` of a model folder; empty if it is damaged, which loading the model tells."""
    try:
        return msgspec.json.decode((folder / "config.json").read_bytes(), type=dict[str, Any])
    except (OSError, *JSON_ERRORS):
        return {}


def row_form_of(model: str | Path | Checkpoint) -> RowForm:
    """Return the form of rows of tables that a model was trained with; `plain` for models of a hub. Raises `ModelError`."""
    if isinstance(model, Checkpoint):
        return getattr(model.model.config, "row_form", "plain")
    form: RowForm = model_config(Path(model_path(model))).get("row_form", "plain")
    if form not in ("plain", "ranked"):
        raise ModelError(f"{model}: config.json: row_form: {form!r}; this version knows plain and ranked")
    return form


def folder_id(folder: Path, more: Sequence[str] = ()) -> str:
    """Return a hash of the files of a model folder, and `more` of them: other weights, another id."""
    names = ("config.json", "tokenizer.json", "vocab.txt", "1_Pooling/config.json", *more)
    files = [folder / name for name in names if (folder / name).is_file()] + sorted(folder.glob("model*.safetensors"))
    return hashlib.sha256("".join(map(recorded_sha256, files)).encode()).hexdigest()[:32]
