"""The MultiQA format: reading of all dialects, writing of the published one, validation."""
