"""The tables of cases in tests/cases: text in, record out."""

import pytest
import yaml

from places import ROOT

# the same as `yaml.safe_load`, eight times as fast
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def cases(name, key=None):
    """The cases of a table; with a key, those that have it. Each caller may change its own."""
    text = (ROOT / "tests" / "cases" / f"{name}.yml").read_text(encoding="utf-8")
    return [case for case in yaml.load(text, _LOADER) if key is None or key in case]


def slow_but(default, values):
    """The values of a parametrized test, of which all but those of `default` run with --all only."""
    return [value if value in default else pytest.param(value, marks=pytest.mark.slow) for value in values]


def each_case(name, key=None):
    """Run a test with each case of a table as `case`, named by its first value."""
    return pytest.mark.parametrize("case", cases(name, key), ids=lambda case: str(next(iter(case.values()))))
