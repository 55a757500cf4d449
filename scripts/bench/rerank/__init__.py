"""Evidence scoring: cross-encoders, the cascade, BM25."""
