"""Evidence retrieval and scoring (ERS): a representation into the top e evidences."""
