"""Where the configuration's files and folders lie."""

from __future__ import annotations

import os
from pathlib import Path

from ..support.errors import ConfigError, nearest

SNAPSHOT = "snapshot:"  # a path that starts so lies in the package
NO_KB, LIVE = "none", "live"  # in the place of the folder of a knowledge base


def resolve(path: str) -> Path:
    """A path of the configuration: `snapshot:NAME` lies in the package, others are relative to the working directory."""
    if path.startswith(SNAPSHOT):
        return Path(__file__).parents[1] / "snapshot" / path[len(SNAPSHOT) :]
    return Path(path).expanduser()


def find_config(name: str | os.PathLike[str]) -> Path:
    """Return the file of a configuration: as given, else in `config/` here, else among the project's own. Raises `ConfigError`.

    The project's own are found with and without `config/` before their name.
    """
    path = Path(name)
    inner = path.relative_to("config") if path.parts[:1] == ("config",) else path
    folders = (Path("config"), own_configurations())
    for candidate in (path, *(folder / inner for folder in folders)):
        if candidate.is_file():
            return candidate
    names = [path.relative_to(folder).as_posix() for folder in folders for path in folder.rglob("*.yml")]
    raise ConfigError(f"{path}: no such configuration, nor in config/; {nearest(str(path), names or ['config.yml'])}")


def own_configurations() -> Path:
    """The folder of the project's configurations: in an installed package inside of it, else `config/` of the checkout."""
    installed = Path(__file__).parents[1] / "configurations"
    return installed if installed.is_dir() else project_root() / "config"


def project_root() -> Path:
    """The checkout that the package lies in (its `config/` and `tests/`)."""
    return Path(__file__).resolve().parents[2]
