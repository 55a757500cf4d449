"""Language models and scoring models behind servers that speak OpenAI's interface."""
