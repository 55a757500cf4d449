"""What flows through the house: evidences, turns and conversations, dates and numbers, facts."""
