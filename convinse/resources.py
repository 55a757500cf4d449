"""Names of models in a configuration."""

from __future__ import annotations

from .config import SNAPSHOT, resolve


def model_path(name: str) -> str:
    """A model of the configuration: `snapshot:NAME` lies in the package, other names are folders or hub names."""
    return str(resolve(name)) if name.startswith(SNAPSHOT) else name
