"""What setup.cfg cannot say: a built package holds the configurations of `config/` as `convinse/configurations/`."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithConfigurations(build_py):
    """Copies `config/` into the package; an editable installation reads it where it is."""

    def run(self) -> None:
        """Build as usual, then copy."""
        super().run()
        if not self.editable_mode:
            self.copy_tree("config", str(Path(self.build_lib) / "convinse" / "configurations"))


setup(cmdclass={"build_py": BuildWithConfigurations})
