"""The parts of docs/ that are written from the program and from measurements."""
