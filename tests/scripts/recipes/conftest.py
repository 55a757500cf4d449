"""What the tests of the recipes share: beginnings of the shared data sets."""

import gzip
import shutil
from itertools import islice

import pytest

from places import DATA


@pytest.fixture(scope="session")
def beginnings(tmp_path_factory):
    """Copies some data sets: of `lines` (file -> number) the first lines, of `whole` everything; skips without them."""

    def copy(lines, whole):
        if not all((DATA / name).exists() for name in (*whole, *(f"{name}.gz" for name in lines))):
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
