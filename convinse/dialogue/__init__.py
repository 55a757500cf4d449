"""Talk around questions: acts of talk, asking back, questions of several parts."""
