"""Data sets and files: readers, writers, converters, downloads."""
