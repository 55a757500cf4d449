"""What makes answering a conversation: talk, questions back, the reasons of an answer, a sentence that says it, what may be asked next."""
