"""Plain passages: a BM25 index over millions of them on disk, search, and submissions in the formats of PolEval 2022."""
