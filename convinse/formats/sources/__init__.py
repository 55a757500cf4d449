"""Converters of data sets, a file each; all files here are loaded and register their converters."""
