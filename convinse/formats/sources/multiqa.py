"""MultiQA files from and into neutral records."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ..converters import Dataset, Format, register
from ..multiqa.files import CONTEXTS, QUESTIONS, VERSION, read_entries, read_header, write
from ..multiqa.from_neutral import from_neutral
from ..multiqa.schema import fits, is_key
from ..multiqa.to_neutral import to_neutral


@register("multiqa")
class MultiQA(Format):
    """MultiQA; written in the spelling of the published schema.

    A header of MultiQA is written as it was read, with new counts.
    """

    def read(self, path: Path) -> Dataset:
        """Read the contexts of a file; the keys of its header without the counts are in `extras`."""
        header = read_header(path)
        name, split = header.pop("dataset_name", ""), header.pop("split", None) or ""
        extras = {key: value for key, value in header.items() if key not in (CONTEXTS, QUESTIONS)}
        return Dataset(name, split, map(to_neutral, read_entries(path)), extras)

    def write(self, path: Path, dataset: Dataset, counts: Counter[str]) -> None:
        """Write a header with true counts and all records."""
        header = {"dataset_name": dataset.name or "unknown", "split": dataset.split}
        if "multiqa_version" not in dataset.extras:  # from another format: the tokens were made here
            header |= {"tokenization_source": "convinse", "multiqa_version": VERSION}
        fitting = {
            key: value
            for key, value in dataset.extras.items()
            if key not in header and (not is_key("head", key) or fits("head", key, value))
        }
        numbers = write(path, header | fitting, (from_neutral(record, counts) for record in dataset.records))
        counts["contexts"], counts["questions"] = numbers[CONTEXTS], numbers[QUESTIONS]
