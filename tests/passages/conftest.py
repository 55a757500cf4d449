import json

import pytest


@pytest.fixture
def corpus(tmp_path):
    """A function that writes passages: (id, text) or (id, text, title)."""

    def write(rows, name="passages.jl"):
        path = tmp_path / name
        lines = [
            json.dumps(
                {"id": row[0], "text": row[1], **({"title": row[2]} if len(row) > 2 else {})}, ensure_ascii=False
            )
            for row in rows
        ]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return write
