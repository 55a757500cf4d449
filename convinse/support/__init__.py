"""The foundation of every room: errors, files, JSON lines, caches on disk, the web, progress, the registry of modules."""
