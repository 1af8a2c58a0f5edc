"""Facts: how they are read out of a dialogue by rules, and how a new one meets those that stand. Pure."""
