"""HTTP servers over the project's models."""
