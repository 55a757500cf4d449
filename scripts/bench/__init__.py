"""Benches: `python -m bench.NAME`, by way of `convinse bench NAME`."""
