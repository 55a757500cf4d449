"""Files that tests write and read in the working directory of their own."""

import gzip
import io
import json
from pathlib import Path


def write(path, content=""):
    """A file of bytes as they are, of text, or of any other value as JSON; the last two packed where it ends in .gz."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def write_lines(path, *values):
    """A file of one JSON value a line; text is a line as it is."""
    return write(path, "".join((value if isinstance(value, str) else json.dumps(value)) + "\n" for value in values))


def saved(document):
    """The bytes that a document of an Office library saves."""
    packed = io.BytesIO()
    document.save(packed)
    return packed.getvalue()


def json_lines(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def names(folder="."):
    return sorted(path.name for path in Path(folder).iterdir())


def read_json(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))
