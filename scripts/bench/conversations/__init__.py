"""The parts of `bench conversations`: data, measures, quality, failures, speed."""
