"""A YAML file into a mapping, safely and within bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..support.errors import ConfigError, one_line
from ..support.limits import LARGEST_CONFIG


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping of a YAML file, unchecked. Raises `ConfigError`: it cannot be read, or holds something else."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_CONFIG + 1)
        if len(text) > LARGEST_CONFIG:
            raise ConfigError(f"{path}: larger than {LARGEST_CONFIG >> 10} kB; is this a file of settings?")
        data = _loader(text.decode("utf-8-sig")).get_single_data()
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


def read_value(text: str, where: str) -> Any:
    """The value that a text stands for in YAML: `30`, `true`, `[a, b]`, a word. Raises `ConfigError`."""
    try:
        return _loader(text).get_single_data()
    except Exception as error:  # as above
        raise ConfigError(f"{where}: not valid YAML: {one_line(error)}") from None


def _loader(text: str) -> Any:
    """Return PyYAML's safe loader, for which 3e-5 is a number, too (YAML 1.1 wants 3.0e-5), without aliases."""
    import re

    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):  # a few of them can stand for millions of values
                raise ValueError("an alias (*name) is not read; write out its value")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [key.value for key, _ in node.value]
            if twice := next((key for place, key in enumerate(keys) if key in keys[:place]), None):
                raise ValueError(f"the key '{twice}' is given twice; leave one of them out")
            return super().construct_mapping(node, deep)

        def construct_scalar(self, node: Any) -> Any:
            text = super().construct_scalar(node)
            text.encode()  # half of a surrogate pair, which YAML may write as an escape, is not text
            return text

    number = re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+$")
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", number, list("-+0123456789"))
    return Loader(text)
