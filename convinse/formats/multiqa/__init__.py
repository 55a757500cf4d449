"""The MultiQA format: typed records, reading of all dialects, writing of the published one, validation."""
