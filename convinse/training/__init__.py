"""Every trainer. Training knows the stages; no stage imports training."""
