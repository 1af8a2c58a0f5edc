-- name: embedding_cache_get
-- By primary key, once a text.
SELECT vector FROM embedding_cache WHERE space_id = :space_id AND digest = :digest

-- name: embedding_cache_put
-- A hit is put again, so that what is used stays.
INSERT INTO embedding_cache (space_id, digest, vector, used_at) VALUES (?, ?, ?, ?)
ON CONFLICT (space_id, digest) DO UPDATE SET used_at = excluded.used_at

-- name: embedding_cache_trim
-- The cache is bounded by the nightly run.
DELETE FROM embedding_cache WHERE rowid IN (
    SELECT rowid FROM embedding_cache WHERE space_id = :space_id ORDER BY used_at DESC LIMIT -1 OFFSET :keep
) RETURNING 1

