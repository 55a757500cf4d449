"""What makes answering a conversation: the reasons of an answer, a sentence that says it, what may be asked next."""
