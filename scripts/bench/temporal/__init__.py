"""The parts of `bench temporal`: its questions, the runs that answer them, their figures."""
