"""Everything that the stages of a pipeline share, opened once: sources, the linker, caches, models."""

from .shared import Resources as Resources
