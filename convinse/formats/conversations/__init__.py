"""Published benchmarks of conversations and of single questions: each module turns one record of a file into a conversation."""
