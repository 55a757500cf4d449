"""Conversations: acts of talk, clarification questions, corrections, attribution of answers, sentences and follow-ups."""
