"""Settings and logging; the only reader of the environment."""
