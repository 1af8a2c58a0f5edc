"""Compaction of a session's prompt: when it is due, what a checkpoint is, and how one is made by rules or asked of a model."""
