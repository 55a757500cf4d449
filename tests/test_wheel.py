"""The wheel holds all that its commands need and is used outside of the checkout; it is built as `python -m build` does."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from places import ROOT

pytest.importorskip("setuptools", minversion="77", reason="the wheel is built by setuptools")
BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, 'build_' + sys.argv[1])(sys.argv[2]))"
CONFIGURATIONS = sorted(path.relative_to(ROOT / "config").as_posix() for path in (ROOT / "config").rglob("*.yml"))


def python(*arguments, cwd, **variables):
    environment = {**os.environ, "PYTHONPATH": "", **variables}
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def build(kind, source, target):
    return target / python("-c", BUILD, kind, str(target), cwd=source).splitlines()[-1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """What the wheel puts beside other packages, wherever that is; the wheel is made from the source distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    tree = folder / "tree"
    for name in ("convinse", "config"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "setup.cfg", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, tree)
    shutil.copytree(ROOT / "LICENSES", tree / "LICENSES")
    with tarfile.open(build("sdist", tree, folder)) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    with zipfile.ZipFile(build("wheel", source, folder)) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def files(folder):
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_has_the_licences_of_the_program_and_of_the_models_base(installed):
    (folder,) = installed.glob("*.dist-info/licenses")
    assert files(folder) == {"LICENSE", "NOTICE", "LICENSES/Apache-2.0.txt"}
    assert "all-MiniLM-L6-v2" in (folder / "NOTICE").read_text()
    assert "Apache License" in (folder / "LICENSES" / "Apache-2.0.txt").read_text()


def test_the_wheel_holds_the_package_and_the_configurations(installed):
    expected = {f"convinse/{name}" for name in files(ROOT / "convinse")}
    expected |= {f"convinse/configurations/{name}" for name in CONFIGURATIONS}
    assert {name for name in files(installed) if ".dist-info/" not in name} == expected
    assert {"convinse/py.typed", "convinse/snapshot/wikipedia.db"} < expected


def test_every_configuration_is_found_outside_of_the_checkout(installed, workdir):
    code = (
        "import sys, convinse.config as config\n"
        "for name in sys.argv[1:]:\n"
        "    for given in (name, 'config/' + name): print(config.find_config(given))\n"
        "print(config.load_config('convmix/convinse.yml').name, config.load_config().ha)"
    )
    *paths, last = python("-c", code, *CONFIGURATIONS, cwd=workdir, PYTHONPATH=str(installed)).splitlines()
    folder = installed / "convinse" / "configurations"
    assert [Path(path) for path in paths] == [folder / name for name in CONFIGURATIONS for _ in range(2)]
    assert last == "convmix-convinse extractive"


def test_its_commands_run_outside_of_the_checkout(installed, workdir):
    ask = ("-m", "convinse", "ask", "--config", "lexical.yml", "Who directed Titanic?")
    assert "James Cameron (Q42574)" in python(*ask, cwd=workdir, PYTHONPATH=str(installed))
