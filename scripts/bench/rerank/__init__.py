"""The parts of `bench rerank`."""
