-- name: vectors_delete
-- vec0 knows no INSERT OR REPLACE.
DELETE FROM {table} WHERE key = ?

-- name: vectors_insert
-- In the same transaction as the delete.
INSERT INTO {table} (key, scope_id, kind, session_pk, vector, bits) VALUES (?, ?, ?, ?, ?, vec_quantize_binary(?))

-- name: vectors_exact
-- Every filter stands inside vec0; one joined afterwards would find nothing.
SELECT key, distance FROM {table}
WHERE vector MATCH :query AND k = :k AND scope_id = :scope_id AND kind IN (SELECT value FROM json_each(:kinds))

-- name: vectors_fetch
-- Vectors to compare with one another.
SELECT v.key, v.vector FROM json_each(:keys) AS j CROSS JOIN {table} AS v ON v.key = j.value

-- name: vectors_count
-- For health.
SELECT count(*) FROM {table}
