"""How the models that ship were trained, and the data that ships was made."""
