"""Names and docstrings of the package: a class name is unique, a variable is a noun, a sentence begins with one."""

import ast
import re
from collections import defaultdict

import pytest

from places import ROOT

PACKAGE = ROOT / "convinse"
FILES = sorted(PACKAGE.rglob("*.py"))
PARTICIPLES = {"asked", "given", "kept", "known", "meant", "own", "told", "wanted"}
HEAD = re.compile(r"(?:^|[.] +|\n\n)(what|who|that|those|such|one|it)\b", re.IGNORECASE)
DIALECT = re.compile(r"\b(is none|[Nn]o such|[Nn]obody|[Ss]omebody)\b")
CLASS = re.compile(r"\s*class (\w+)[(:]")
PUBLIC = {
    "known": "clocq_retriever.py",
    "asked": "referents.py",
}  # a keyword of users' modules, a feature in a file of weights


def named(tree):
    """Yield each name that a file gives to a variable, a parameter or an attribute, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif (
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            or isinstance(node, ast.ExceptHandler)
            and node.name
        ):
            yield node.name, node.lineno


def test_a_class_has_a_name_of_its_own():
    places = defaultdict(list)
    for path in FILES:
        for line, text in enumerate(path.read_text().splitlines(), 1):
            if match := CLASS.match(text):
                places[match[1]].append(f"{path.relative_to(ROOT)}:{line}")
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_names_are_nouns_and_sentences_begin_with_theirs(path):
    tree = ast.parse(path.read_text())
    faults = [
        f"{path}:{line}: {name}"
        for name, line in named(tree)
        if name.strip("_") in PARTICIPLES and PUBLIC.get(name) != path.name
    ]
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node) or ""
            faults += [
                f"{path}: {match[0]!r} in: {text[:60]}" for rule in (HEAD, DIALECT) for match in rule.finditer(text)
            ]
    assert faults == []


@pytest.mark.parametrize("folder", ["tests", "scripts"])
def test_names_of_tests_and_scripts_are_nouns(folder):
    faults = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name, line in named(ast.parse(path.read_text()))
        if name in PARTICIPLES
    ]
    assert faults == []


OF_THE_LIBRARY = {"_replace", "_asdict", "_fields", "_exit", "_parse_args", "_repr_html_"}


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: path.name)
def test_tests_use_public_names(path):
    private = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and not ast.unparse(node.value).startswith(("self", "cls")):
            private.append((node.lineno, node.attr))
        elif isinstance(node, ast.ImportFrom):
            private += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("setattr"):
            texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            private += [(node.lineno, text.rpartition(".")[2]) for text in texts]
    assert [
        name
        for name in private
        if name[1].startswith("_") and not name[1].endswith("__") and name[1] not in OF_THE_LIBRARY
    ] == []
