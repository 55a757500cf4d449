"""The layers of the house: what every file imports, wherever in it, stands on a lower floor, and nothing goes in circles."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from places import ROOT

# the table of CONTRIBUTING.md, from the lowest floor
_ROWS = re.findall(r"^\| [0-9]+ \| (`.*`) \|$", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
FLOORS = [re.findall(r"`(\w+)`", row) for row in _ROWS]
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}


def modules(package: Path) -> dict[str, Path]:
    """Every file of a package by the name of its module."""
    found = {}
    for file in package.rglob("*.py"):
        parts = file.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports(package: Path) -> dict[str, set[str]]:
    """The modules of a package that each of them imports: anywhere in the file, for types too.

    The package itself is named as `__init__`, the room above all others: it imports its public names on first use.
    """
    files = modules(package)
    arrows = {}
    for name, file in files.items():
        inside = name if file.name == "__init__.py" else name.rpartition(".")[0]
        imported = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                above = inside.split(".")[: len(inside.split(".")) - node.level + 1] if node.level else []
                origin = ".".join([*above, *([node.module] if node.module else [])])
                names = {f"{origin}.{alias.name}" for alias in node.names}
                imported |= names & files.keys()
                if names - files.keys():
                    imported.add(origin)
        targets = {target for target in imported if target.partition(".")[0] == package.name} - {name}
        assert targets <= files.keys(), f"{name} imports {targets - files.keys()}, which is not there"
        arrows[name if "." in name else f"{name}.__init__"] = {
            target if "." in target else f"{target}.__init__" for target in targets
        }
    return arrows


def faults(arrows: dict[str, set[str]]) -> list[str]:
    """Arrows that do not go to a lower floor (or stay in their room), rooms without a floor, and a circle of files."""
    wrong = []
    for name, targets in arrows.items():
        room = name.split(".")[1]
        if room not in FLOOR_OF:
            wrong.append(f"{name}: the room '{room}' has no floor; the map of the house must say where it stands")
            continue
        for target in targets:
            other = target.split(".")[1]
            if other != room and FLOOR_OF.get(other, -1) >= FLOOR_OF[room]:
                way = "sideways" if FLOOR_OF[other] == FLOOR_OF[room] else "upwards"
                wrong.append(f"{name} imports {target}: {way}")
    rooms: dict[str, set[str]] = {}
    for name, targets in arrows.items():
        room = name.split(".")[1]
        rooms.setdefault(room, set()).update({target.split(".")[1] for target in targets} - {room})
    for kind, graph in (("files", arrows), ("rooms", rooms)):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            wrong.append(f"a cycle of {kind}: {' <- '.join(error.args[1])}")
    return sorted(wrong)


def test_rooms_that_import_each_other_are_a_cycle(house):
    found = house(support__of__a="from ..records.b import x", records__of__b="from ..support.a import y")
    assert any(fault.startswith("a cycle of rooms: ") for fault in found)


def test_every_import_goes_down():
    assert faults(imports(ROOT / "convinse")) == []


@pytest.mark.parametrize("folder", ["bench", "recipes"])
def test_scripts_go_in_no_circle(folder):
    TopologicalSorter(imports(ROOT / "scripts" / folder)).prepare()


ASKED = re.compile(
    r"\bNO_KB\b|\bLIVE\b|\bhas_facts\b|isinstance\([^)]*(?:Index|Dump|Source|Server)\b|clocq_use_api|kb_path (?:==|!=|in)|\.live\b(?! import)"
)
SOURCES = {"config", "knowledge_base", "wikipedia", "documents", "passages", "sources", "resources"}


def test_sources_and_their_factory_alone_know_which_source_is_behind():
    lines = (
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for name, file in modules(ROOT / "convinse").items()
        if name.split(".")[1:2] and name.split(".")[1] not in SOURCES
        for line in file.read_text(encoding="utf-8").splitlines()
        if ASKED.search(line)
    )
    assert list(lines) == []


def test_encoders_alone_know_torch_beside_training():
    """Stages, sources and the command line compute by `encoder`."""
    libraries, knowing = {"torch", "transformers", "safetensors", "onnx", "onnxruntime"}, set()
    for name, file in modules(ROOT / "convinse").items():
        source = file.read_text(encoding="utf-8")
        if not any(library in source for library in libraries):
            continue  # to walk through all trees takes a second
        for node in ast.walk(ast.parse(source)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            if {part.split(".")[0] for part in names} & libraries:
                knowing.add(name.split(".")[1])
    assert knowing == {"encoder", "training"}


@pytest.fixture
def house(tmp_path):
    """A function that makes a package of files; returns the faults of its layers."""

    def build(**files):
        for name, text in {"__init__": "", **files}.items():
            path = tmp_path / "house" / f"{name.replace('__of__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return faults(imports(tmp_path / "house"))

    return build


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"records__of__a": "from ..pipeline import run", "pipeline": ""}, "house.records.a imports house.pipeline: upwards"),
        ({"records__of__a": "def f():\n    from .. import pipeline", "pipeline": ""}, "house.pipeline: upwards"),
        ({"records__of__a": "import house.pipeline", "pipeline": ""}, "house.pipeline: upwards"),
        (
            {"records__of__a": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.pipeline import run", "pipeline": ""},
            "house.pipeline: upwards",
        ),
        (
            {"question_understanding__of__a": "from ..heterogeneous_answering.b import c", "heterogeneous_answering__of__b": ""},
            "house.question_understanding.a imports house.heterogeneous_answering.b: sideways",
        ),
        ({"pipeline": "from .training.a import b", "training__of__a": ""}, "house.pipeline imports house.training.a: sideways"),
        ({"attic__of__a": ""}, "house.attic.a: the room 'attic' has no floor"),
        ({"records__of__a": "from .b import x", "records__of__b": "def f():\n    from .a import y"}, "a cycle of files: "),
    ],
)  # fmt: skip
def test_what_the_test_finds(house, files, fault):
    (found,) = house(**files)
    assert fault in found


def test_what_the_test_lets_pass(house):
    assert house(records__of__a="import json\nfrom ..support import x", support="", cli="from .records import a\nfrom .records.a import b") == []  # fmt: skip
