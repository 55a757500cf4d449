"""What the documentation site generates: the reference of commands and keys, tables of figures, its list of pages."""
