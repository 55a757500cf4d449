"""Folders of files as a source of evidences: read, indexed, changed in place."""
