"""Paths of configurations, and of the files and folders that they name."""

from __future__ import annotations

import os
from pathlib import Path

from ..support.errors import ConfigError, nearest

SNAPSHOT = "snapshot:"  # the prefix of paths inside the package
NO_KB, LIVE = "none", "live"  # values of `kb_path` that name no folder


def resolve(path: str) -> Path:
    """Return a path that a configuration names: `snapshot:NAME` in the package, others from the working directory."""
    if path.startswith(SNAPSHOT):
        return Path(__file__).parents[1] / "snapshot" / path[len(SNAPSHOT) :]
    return Path(path).expanduser()


def find_config(name: str | os.PathLike[str]) -> Path:
    """Return the file of a configuration: the path itself, else in `./config/`, else one of the project's own.

    `config/` before a name may be left out. Raises `ConfigError`.
    """
    path = Path(name)
    inner = path.relative_to("config") if path.parts[:1] == ("config",) else path
    folders = (Path("config"), own_configurations())
    for candidate in (path, *(folder / inner for folder in folders)):
        if candidate.is_file():
            return candidate
    names = {file.relative_to(folder).as_posix() for folder in folders for file in folder.rglob("*.yml")}
    hint = nearest(str(path), [*names] or ["config.yml"], ".yml")
    raise ConfigError(f"{path}: no such configuration, nor in config/; {hint}")


def own_configurations() -> Path:
    """Return the folder of the project's own configurations: inside of an installed package, else `config/` of the checkout."""
    installed = Path(__file__).parents[1] / "configurations"
    return installed if installed.is_dir() else project_root() / "config"


def project_root() -> Path:
    """Return the root of the checkout that has the package, with `config/` and `tests/`."""
    return Path(__file__).resolve().parents[2]
