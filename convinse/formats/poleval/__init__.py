"""The PolEval 2022 formats of passage retrieval: questions and submissions."""
