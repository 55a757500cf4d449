"""Answers from tables: those of Wikipedia, and of documents with their columns by kind; what is asked of them, and computed."""
