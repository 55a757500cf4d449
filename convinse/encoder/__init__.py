"""A batching engine for all BERTs of the project, which rank, embed and read: token ids in, arrays out."""
