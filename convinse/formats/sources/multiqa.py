"""MultiQA files from and into neutral records."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ..converters import Dataset, Format, Head, register
from ..multiqa.files import VERSION, MultiqaReader, write
from ..multiqa.from_neutral import from_neutral
from ..multiqa.schema import fits, is_key
from ..multiqa.to_neutral import to_neutral

_COUNTS = ("number_of_contexts", "number_of_qas")


@register("multiqa")
class MultiQA(Format):
    """MultiQA in all dialects (read) and in that of the published schema (written).

    A header of MultiQA is written as it was read, with new counts.
    """

    @classmethod
    def recognizes(cls, head: Head) -> bool:
        """Return True for a header that names the data set, or contexts of documents."""
        return bool({"context.documents", "header.dataset_name"} & head.keys)

    def read(self, path: Path) -> Dataset:
        """Read the contexts of a file; the keys of its header without the counts are in `extras`."""
        reader = MultiqaReader(path)
        header = dict(reader.header or {})
        name, split = header.pop("dataset_name", ""), header.pop("split", None) or ""
        extras = {key: value for key, value in header.items() if key not in _COUNTS}
        return Dataset(name, split, map(to_neutral, reader), extras)

    def write(self, path: Path, dataset: Dataset, counts: Counter[str]) -> None:
        """Write a header with true counts and all records."""
        header = {"dataset_name": dataset.name or "unknown", "split": dataset.split}
        if "multiqa_version" not in dataset.extras:  # from another format: the tokens were made here
            header |= {"tokenization_source": "convinse", "multiqa_version": VERSION}
        renamed = {  # a key that means something else here is renamed
            key if fits("head", key, value) or not is_key("head", key) else f"_{key}": value
            for key, value in dataset.extras.items()
            if key not in header
        }
        counted = write(path, header | renamed, (from_neutral(record, counts) for record in dataset.records))
        counts["contexts"] = counted.contexts
        counts["questions"] = counted.questions
