"""How the embedded model is measured: dev sets, systems, measures, tables."""
