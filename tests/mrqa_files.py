"""Files of MRQA examples for tests."""

from convinse.formats.mrqa import writing_examples


def write_examples(path, examples, header=None):
    with writing_examples(path, header) as write:
        for example in examples:
            write(example)
