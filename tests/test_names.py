"""Names in the package: a class has a name of its own, and variables are named by nouns."""

import ast
from collections import defaultdict

import pytest

from places import ROOT

PACKAGE = ROOT / "convinse"
# folders and files of the package whose names are still to be made so
WAITING = (
    "config.py", "encoder", "evidence_retrieval_scoring", "heterogeneous_answering", "knowledge_base", "language",
    "passages", "pipeline.py", "question_understanding", "records", "resources.py", "support", "testing.py",
    "wikipedia",
)  # fmt: skip
NO_NOUNS = {"one", "ones", "two", "each", "found", "other", "others"}
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] not in WAITING]


def named(tree):
    """Each name that a file gives to a variable, a parameter or an attribute, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name, node.lineno


def test_a_class_has_a_name_of_its_own():
    places = defaultdict(list)
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_variables_are_named_by_nouns(path):
    names = named(ast.parse(path.read_text()))
    assert [f"{path}:{line}: {name}" for name, line in names if name.strip("_") in NO_NOUNS] == []


def test_what_waits_is_there():
    assert [name for name in WAITING if not (PACKAGE / name).exists()] == []
