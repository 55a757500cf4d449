"""What every room stands on: errors, files, JSON lines, caches on disk, the web, progress, the registry of modules."""
