"""The version alone, so that no module imports the package to know it."""

__version__ = "0.2.0"
