"""MRQA files for tests."""

from convinse.formats.mrqa import MrqaHeader, writing_examples


def write_examples(path, examples, header=None):
    with writing_examples(path, header or MrqaHeader()) as write:
        for example in examples:
            write(example)
