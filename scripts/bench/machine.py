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
    call = ("git", "-C", str(_ROOT))
    asked = (("rev-parse", "--short", "HEAD"), ("status", "--porcelain", "--", "convinse", "scripts", "config"))
    try:
        name, changed = (
            subprocess.run([*call, *words], capture_output=True, text=True, check=True).stdout for words in asked
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return name.strip() + ("+" if changed else "")


def machine() -> dict[str, Any]:
    """The conditions of figures besides the code and the load: the processor, Python, versions of packages, the date."""
    told: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d"), "cores": os.cpu_count(),
        "architecture": platform.machine(), "python": platform.python_version(),
    }  # fmt: skip
    with suppress(OSError):
        lines = (line.partition(":") for line in Path("/proc/cpuinfo").read_text().splitlines())
        told["processor"] = {key.strip(): value.strip() for key, _, value in lines}.get("model name", "")
    for name in ("onnxruntime", *MODELS, *PACKAGES):
        with suppress(metadata.PackageNotFoundError):
            told[name] = metadata.version(name)
    return told
