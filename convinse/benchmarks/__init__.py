"""Readers of data sets."""
