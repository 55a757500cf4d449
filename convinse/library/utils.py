"""CONVINSE's import path of the functions that read a configuration and make a logger."""

import logging

from ..config import Config
from ..config import load_config as get_config

__all__ = ["get_config", "get_logger"]


def get_logger(name: str, config: Config) -> logging.Logger:
    """Return a logger, which writes to the log of the run."""
    return logging.getLogger(name)
