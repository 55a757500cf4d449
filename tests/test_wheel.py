"""What is published: the source distribution holds the whole project, the wheel all that its commands need.

Both are built as `python -m build` does, and the wheel is used outside of the checkout.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
import yaml

import convinse
from places import ROOT

pytestmark = pytest.mark.slow
pytest.importorskip("setuptools", minversion="77", reason="the wheel is built by setuptools")
MOST_BYTES = 95_000_000  # of the wheel
BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, 'build_' + sys.argv[1])(sys.argv[2]))"
# what a checkout may have that nobody publishes: as .gitignore says, where no git can be asked
_UNPUBLISHED = (".git", ".venv", ".venv.lock", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis", "build", "dist", "results", "PKG-INFO")  # fmt: skip
CONFIGURATIONS = sorted(path.relative_to(ROOT / "config").as_posix() for path in (ROOT / "config").rglob("*.yml"))


def python(*arguments, cwd, **variables):
    environment = {**os.environ, "PYTHONPATH": "", **variables}
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def build(kind, source, target):
    return target / python("-c", BUILD, kind, str(target), cwd=source).splitlines()[-1]


def copy_published(target):
    """Copy the files of the project: in a checkout those that git knows or would add, else all but leftovers."""
    git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    has_git = shutil.which("git") and (ROOT / ".git").exists() and subprocess.run(git, cwd=ROOT, capture_output=True)
    if not has_git or has_git.returncode:
        shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns(*_UNPUBLISHED), dirs_exist_ok=True)
        return
    for name in filter(None, has_git.stdout.decode().split("\0")):
        if (ROOT / name).is_file():  # it may be removed, and not yet committed
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The files of the project as a folder, and what the source distribution that is made of them unpacks to."""
    folder = tmp_path_factory.mktemp("sdist")
    copy_published(folder / "tree")
    expected = files(folder / "tree")  # before the build adds its own
    with tarfile.open(build("sdist", folder / "tree", folder)) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    return expected, source


@pytest.fixture(scope="module")
def installed(published, tmp_path_factory):
    """What the wheel puts beside other packages, wherever that is; the wheel is made from the source distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel = build("wheel", published[1], folder)
    assert wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def files(folder):
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_source_distribution_holds_the_whole_project(published):
    expected, source = published
    names = {name for name in files(source) if not name.startswith("convinse.egg-info/") and name != "PKG-INFO"}
    assert names == expected
    assert {"run.sh", "constraints.txt", "CITATION.cff", "tests/test_wheel.py", "cache/README.md", ".ci/run"} < names


def test_the_metadata_name_licence_authors_and_versions(installed):
    (file,) = installed.glob("*.dist-info/METADATA")
    shown = message_from_string(file.read_text(encoding="utf-8"))
    assert (shown["Name"], shown["Author"]) == ("convinse", "the convinse maintainers")
    assert shown["License-Expression"] == "MIT AND Apache-2.0" and shown["Requires-Python"] == ">=3.10"
    assert all(url.split(", ")[1].startswith("https://doi.org/10.") for url in shown.get_all("Project-URL"))
    versions = {f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 15)}
    assert versions < set(shown.get_all("Classifier")) and shown["Keywords"]


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0" and citation["version"] == convinse.__version__
    assert citation["preferred-citation"]["doi"] == "10.1145/3477495.3531815"


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
