"""The pipeline's retrieval, scoring and answering as parts of other tools; each module needs the tool that it is named after."""
