"""Records of the stages: evidences, turns and conversations, dates and numbers, facts."""
