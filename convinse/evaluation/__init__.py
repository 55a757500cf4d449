"""Metrics with the interface of the Hugging Face `evaluate` library."""
