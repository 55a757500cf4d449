"""The embedded knowledge base: a Wikidata dump into an index, linking, and the search space of a question."""
