"""Runs of the pipeline over a data set: with resuming, on this machine or on a cluster, under an identity of all that counts."""

from .run import read_part as read_part
from .run import run_experiment as run_experiment
