"""The embedded snapshot: which entities it has, and how its index is built."""
