"""Wikipedia pages into evidences, and the dump file that keeps them by item."""
