-- name: fulltext_index
-- Contentless: the text stands in its own table.
INSERT INTO memory_fts (rowid, scope, terms) VALUES (?, ?, ?)

-- name: fulltext_remove
-- Erased, retired or archived.
DELETE FROM memory_fts WHERE rowid = ?

-- name: fulltext_search
-- bm25 is negative, better is smaller.
SELECT rowid, -bm25(memory_fts, 0.0, 1.0) AS score FROM memory_fts
WHERE memory_fts MATCH :match AND rowid % 4 IN (SELECT value FROM json_each(:kinds))
ORDER BY score DESC
LIMIT :limit
