"""What stages share, over a knowledge base that a test has opened."""

from convinse.config import parse_config
from convinse.resources import Resources


def resources_of(kb, **keys):
    """Resources of a configuration whose knowledge base is `kb`."""
    return Resources(parse_config(keys), kb=kb)
