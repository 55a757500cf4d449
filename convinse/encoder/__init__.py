"""One batching engine for every BERT of the project: it ranks, embeds and reads. Token ids in, arrays out."""
