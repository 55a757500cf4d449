"""Heterogeneous answering (HA): the top evidences into ranked answers."""
