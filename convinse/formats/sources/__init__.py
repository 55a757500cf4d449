"""Converters of data sets, one a file: each registers itself, and all files here are found by themselves."""
