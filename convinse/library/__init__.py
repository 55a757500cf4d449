"""CONVINSE's import path of its utilities."""
