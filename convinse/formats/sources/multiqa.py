"""MultiQA files from and into neutral records."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ..converters import Dataset, Format, Head, register
from ..multiqa.dialects import Dialect, read_header
from ..multiqa.files import VERSION, MultiqaReader, write
from ..multiqa.from_neutral import fitting, from_neutral
from ..multiqa.records import MultiqaHeader, plain
from ..multiqa.to_neutral import to_neutral
from ..records import merged

_COUNTS = ("number_of_contexts", "number_of_qas")


@register("multiqa")
class MultiQA(Format):
    """MultiQA in all dialects (read) and in that of the published schema (written).

    A header of MultiQA is kept, but for the counts, which are those of what is written.
    """

    @classmethod
    def recognizes(cls, head: Head) -> bool:
        """A header that names the data set, or contexts of documents."""
        return bool({"context.documents", "header.dataset_name"} & head.keys)

    def read(self, path: Path) -> Dataset:
        """The contexts of a file; the keys of its header that are no counts are in `extras`."""
        reader = MultiqaReader(path)
        header = plain(reader.header) if reader.header is not None else {}
        name, split = header.pop("dataset_name", ""), header.pop("split", "")
        extras = {key: value for key, value in header.items() if key not in _COUNTS}
        return Dataset(name, split, map(to_neutral, reader), extras)

    def write(self, path: Path, dataset: Dataset, counts: Counter[str]) -> None:
        """Write a header with true counts and all records."""
        known = {"dataset_name": dataset.name or "unknown", "split": dataset.split}
        if "multiqa_version" not in dataset.extras:  # from another format: the tokens are ours
            known |= {"tokenization_source": "convinse", "multiqa_version": VERSION}
        extras = {key: value for key, value in dataset.extras.items() if key not in known}
        raw = merged(known, fitting(extras, MultiqaHeader, known))
        header = read_header(raw, Dialect())
        counted = write(path, header, (from_neutral(record, counts) for record in dataset.records))
        counts["contexts"] = counted.contexts
        counts["questions"] = counted.questions
