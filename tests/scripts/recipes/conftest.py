"""What the tests of the recipes share: beginnings of the shared data sets, and a tiny model."""

import gzip
import shutil
from itertools import islice

import pytest

from convinse.encoder.tokens import TextTokenizer
from embedded_examples import LENGTH, joint_checkpoint
from places import DATA


@pytest.fixture(scope="session")
def beginnings(tmp_path_factory):
    """Copies some data sets: of `lines` (file -> number) the first lines, of `whole` everything; skips without them."""

    def copy(lines, whole):
        if not DATA.exists():
            pytest.skip("needs the shared data")
        folder = tmp_path_factory.mktemp("data")
        for name in whole:
            shutil.copytree(DATA / name, folder / name)
        for name, number in lines.items():
            target = folder / f"{name}.gz"
            target.parent.mkdir(exist_ok=True)
            with gzip.open(DATA / f"{name}.gz") as opened, gzip.open(target, "wb", 1) as file:
                file.writelines(islice(opened, number))
        return folder

    return copy


@pytest.fixture(scope="module")
def checkpoint():
    """A tiny joint model, which tests do not change."""
    return joint_checkpoint()


@pytest.fixture
def model():
    """A tiny joint model, which the test may change."""
    return joint_checkpoint().model.eval()


@pytest.fixture(scope="module")
def tokenizer(checkpoint):
    """A tokenizer whose windows are of `embedded_examples.LENGTH` tokens."""
    return TextTokenizer.of(checkpoint, LENGTH)
