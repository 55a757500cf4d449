"""Reports of finished runs: one page, tables for a paper."""
