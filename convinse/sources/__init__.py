"""Sources of knowledge, and what joins them."""
