"""Question understanding (QU): a question and its history into one explicit representation."""
