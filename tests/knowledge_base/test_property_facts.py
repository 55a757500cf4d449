"""The facts of properties, read in blocks of any size."""

from contextlib import closing

import pytest

from convinse.knowledge_base import property_facts
from convinse.knowledge_base.index import KnowledgeBase


@pytest.mark.parametrize("block", [1, 10, 40])
def test_the_size_of_blocks_changes_nothing(world_kb, monkeypatch, block):
    names = [f"P{number}" for number in (31, 57, 161, 453, 577, 1, 999_999)]
    expected = [(world_kb.frequencies(name), world_kb.neighborhood(name)) for name in names]
    assert expected[0][0][1] > 5 and expected[3][0] == (0, 2)  # the latter in qualifiers only
    monkeypatch.setattr(property_facts, "BLOCK", block)
    with closing(KnowledgeBase(world_kb.path)) as kb:
        assert [(kb.frequencies(name), kb.neighborhood(name)) for name in names] == expected
