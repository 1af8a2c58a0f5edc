-- Segments of the index are merged within the transaction that adds one. Eight at a time instead of four halves how often
-- a term is written again, and with it the longest of these transactions; a search looks into a few segments more.
INSERT INTO memory_fts (memory_fts, rank) VALUES ('automerge', 8);
