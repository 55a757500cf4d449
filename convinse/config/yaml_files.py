"""A YAML file into a mapping, safely and within bounds."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

from ..support.errors import ConfigError, one_line
from ..support.limits import LARGEST_CONFIG, MOST_SETTINGS


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping that a YAML file holds, nothing of it checked. Raises `ConfigError`: it cannot be read, or holds something else."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_CONFIG + 1)
        if len(text) > LARGEST_CONFIG:
            raise ConfigError(f"{path}: larger than {LARGEST_CONFIG >> 10} kB; is this a file of settings?")
        loader = _loader(text.decode("utf-8-sig"))
        node = loader.get_single_node()
        if _values(node, {}) > MOST_SETTINGS:
            raise ConfigError(f"{path}: more than {MOST_SETTINGS} values; does an alias (*name) stand for many?")
        data = None if node is None else loader.construct_document(node)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {one_line(error)}") from None
    except ConfigError:
        raise
    except RecursionError:
        raise ConfigError(f"{path}: not valid YAML: nested too deep") from None
    except Exception as error:  # PyYAML lets through whatever Python says of a value, such as a date of month 13
        raise ConfigError(f"{path}: not valid YAML: {one_line(error)}") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected a mapping of keys to values, found {type(data).__name__}")
    return data


def _values(node: Any, known: dict[int, int]) -> int:
    """How many values a node of YAML stands for; one that holds itself, more than there may be."""
    if id(node) not in known:
        known[id(node)] = MOST_SETTINGS + 1  # while it is looked at
        parts = getattr(node, "value", ())
        within = (
            () if isinstance(parts, str) else chain.from_iterable(p if isinstance(p, tuple) else (p,) for p in parts)
        )
        known[id(node)] = min(MOST_SETTINGS + 1, 1 + sum(_values(part, known) for part in within))
    return known[id(node)]


def _loader(text: str) -> Any:
    """PyYAML's safe loader, for which 3e-5 is a number, too (YAML 1.1 wants 3.0e-5)."""
    import re

    import yaml

    class Loader(yaml.SafeLoader):
        def construct_scalar(self, node: Any) -> Any:
            text = super().construct_scalar(node)
            text.encode()  # half of a surrogate pair, which YAML may write as an escape, is no text
            return text

    number = re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+$")
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", number, list("-+0123456789"))
    return Loader(text)
