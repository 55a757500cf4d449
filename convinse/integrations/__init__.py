"""The pipeline's retrieval, scoring and answering as parts of other tools; a module needs the tool of its name."""
