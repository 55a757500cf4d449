"""Count the named things of the package, of a commit or of the working tree.

    python scripts/concepts.py [COMMIT ...]

- record types: classes that are a dataclass, NamedTuple, TypedDict, Struct or BaseModel
- configuration keys: fields of the structs of `convinse/config`
- source questions: places outside of the sources themselves that ask which source is behind (comparisons with `none` and `live`,
  `has_facts`, `has_changed`, `isinstance` of an index or a dump, `... is None` of a live source, a server, passages or a dump)
- type questions: `isinstance`, `hasattr` and `getattr` with a name, in stages and sources
- rooms: folders and files directly below `convinse/`; lines of package, tests and scripts
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_RECORDS = ("NamedTuple", "TypedDict", "Struct", "BaseModel")
_SOURCE = re.compile(
    r"\bNO_KB\b|\bLIVE\b|\bhas_facts\b|\.has_changed\b|isinstance\([^)]*(?:Index|Dump)\b|\.live is |clocq_use_api\b(?!:)"
    r"|\b(?:api|wikipedia|passages|dump|live) is (?:not )?None|:= \w+\.live\)"
)
_OF_SOURCES = (
    "config/",
    "knowledge_base/",
    "wikipedia/",
    "documents/",
    "passages/",
    "sources/",
    "resources",
    "live.py",
)
_STAGES = (
    "question_understanding/", "evidence_retrieval_scoring/", "heterogeneous_answering/", "knowledge_base/", "wikipedia/", "documents/",
    "passages/", "sources/", "stage.py", "resources", "pipeline.py", "live.py",
)  # fmt: skip
_TYPE = re.compile(r"\b(?:isinstance|hasattr|getattr)\(")


def files(commit: str) -> Iterator[tuple[str, str]]:
    """Yield the Python files of a commit, or of the working tree if it is empty, with their texts."""
    names = ["git", "ls-files"] if not commit else ["git", "ls-tree", "-r", "--name-only", commit]
    for name in subprocess.check_output(names, text=True).split():
        if name.endswith(".py") and name.split("/")[0] in ("convinse", "tests", "scripts"):
            if commit:
                yield name, subprocess.check_output(["git", "show", f"{commit}:{name}"], text=True)
            else:
                yield name, Path(name).read_text(encoding="utf-8")


def counts(commit: str) -> dict[str, int]:
    """Return the counts of a commit."""
    found = dict.fromkeys(("record types", "configuration keys", "source questions", "type questions"), 0)
    rooms = set()
    lines = dict.fromkeys(("convinse", "tests", "scripts"), 0)
    for name, text in files(commit):
        folder, _, rest = name.partition("/")
        lines[folder] += text.count("\n")
        if folder != "convinse":
            continue
        rooms.add(rest.split("/")[0])
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                bases = " ".join(map(ast.unparse, node.bases))
                is_record = any(kind in bases for kind in _RECORDS) or "dataclass" in " ".join(
                    map(ast.unparse, node.decorator_list)
                )
                found["record types"] += is_record
                if rest.startswith("config/") and ("Struct" in bases or "Settings" in bases or "Training" in bases):
                    found["configuration keys"] += sum(isinstance(field, ast.AnnAssign) for field in node.body)
        code = [line for line in text.splitlines() if not line.lstrip().startswith(("#", '"', "from ", "import "))]
        if not rest.startswith(_OF_SOURCES):
            found["source questions"] += sum(len(_SOURCE.findall(line)) for line in code)
        if rest.startswith(_STAGES):
            found["type questions"] += sum(len(_TYPE.findall(line)) for line in code)
    return {
        **found,
        "rooms": len(rooms - {"__init__.py", "__main__.py"}),
        **{f"lines: {name}": n for name, n in lines.items()},
    }


def main() -> None:
    commits = sys.argv[1:] or [""]
    columns = [counts(commit) for commit in commits]
    print("| |", " | ".join(commit[:8] or "now" for commit in commits), "|")
    for name in columns[0]:
        print(f"| {name} |", " | ".join(f"{column[name]:,}" for column in columns), "|")


if __name__ == "__main__":
    main()
