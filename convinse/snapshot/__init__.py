"""The embedded data: the knowledge base and the pages that `scripts/recipes/snapshot/build.py` builds, conversations, models."""
