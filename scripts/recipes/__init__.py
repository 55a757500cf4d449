"""What makes the data and the models that the project ships or measures with."""
