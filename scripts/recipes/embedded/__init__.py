"""How the embedded model is made: examples from many data sets, the recipe, the measures."""
