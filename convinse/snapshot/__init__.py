"""The embedded data: entity documents, pages and conversations, and what `scripts/build_snapshot.py` builds of them."""
