"""The conditions that figures are measured in: the commit, the machine, the versions of packages."""

import os
import platform
import subprocess
import time
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from recipes.sources import BASE_INSTALL, BASE_PACKAGE

from .processors import instructions

# peers, and what else benches need besides the project's own: to import -> to install
PACKAGES = {
    "bm25s": "bm25s numba",
    "bs4": "beautifulsoup4",
    "haystack_integrations.components.readers.transformers": "haystack-ai transformers-haystack",
    "rank_bm25": "rank_bm25==0.2.2",
    "sentence_transformers": "sentence-transformers==6.2.0",
    BASE_PACKAGE: BASE_INSTALL,
}
MODELS = ("onnx", "torch", "transformers")
_ROOT = Path(__file__).resolve().parents[2]


def commit() -> str | None:
    """The commit that is measured, with `+` if files were changed since; None outside of a checkout with git."""

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(_ROOT), *words], capture_output=True, text=True).stdout

    name = git("rev-parse", "--short", "HEAD").strip()
    # figures that were written since do not count
    changed = git("status", "--porcelain", "--", "convinse", "scripts", "config")
    return name + ("+" if changed else "") if name else None


def machine() -> dict[str, Any]:
    """The conditions of figures besides the code and the load: the processor, Python, versions of packages, the date."""
    conditions: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d"), "cores": os.cpu_count(),
        "architecture": platform.machine(), "python": platform.python_version(),
    }  # fmt: skip
    with suppress(OSError):
        lines = (line.partition(":") for line in Path("/proc/cpuinfo").read_text().splitlines())
        conditions["processor"] = {key.strip(): value.strip() for key, _, value in lines}.get("model name", "")
    conditions["instructions"] = instructions()
    for name in ("onnxruntime", *MODELS, *PACKAGES):
        with suppress(metadata.PackageNotFoundError):
            conditions[name] = metadata.version(name)
    return conditions
