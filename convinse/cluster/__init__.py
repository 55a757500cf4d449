"""The same commands on a Ray cluster. Ray is imported where a cluster is asked for, and nowhere else."""
