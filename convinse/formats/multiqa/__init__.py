"""The MultiQA format: reading, writing, validation."""
