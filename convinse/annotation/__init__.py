"""Distant supervision of question understanding: silver representations from gold answers, over the stages before."""
