"""Evaluation measures, one official rule set a module."""
