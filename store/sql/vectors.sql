-- name: vectors_delete_bits
-- vec0 knows no INSERT OR REPLACE.
DELETE FROM {table} WHERE key = ?

-- name: vectors_insert_bits
-- In the same transaction as the delete; one bit a dimension, its sign against the space's centre.
INSERT INTO {table} (key, scope_id, kind, session_pk, bits)
VALUES (
    ?1, ?2, ?3, ?4, vec_quantize_binary(vec_sub(?5, (SELECT centre FROM embedding_spaces WHERE id = ?6)))
)

-- name: vectors_all
-- Of these the centre is made, once there are enough; then their bits are made anew.
SELECT b.key, b.scope_id, b.kind, b.session_pk, f.vector FROM {table} AS b CROSS JOIN {table}_floats AS f ON f.key = b.key

-- name: vectors_put_floats
-- The vector itself, for the second pass.
INSERT INTO {table}_floats (key, vector) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET vector = excluded.vector

-- name: vectors_delete_floats
-- Together with the bits.
DELETE FROM {table}_floats WHERE key = ?

-- name: vectors_near
-- Every filter stands inside vec0; one joined afterwards would find nothing.
WITH near AS MATERIALIZED (
    SELECT key FROM {table}
    WHERE bits MATCH vec_quantize_binary(
        vec_sub(:query, (SELECT centre FROM embedding_spaces WHERE id = :space_id))
    ) AND k = :wide AND scope_id = :scope_id
        AND kind IN (SELECT value FROM json_each(:kinds))
)
SELECT f.key, vec_distance_cosine(f.vector, :query) AS distance
FROM near CROSS JOIN {table}_floats AS f ON f.key = near.key
ORDER BY distance, f.key
LIMIT :k

-- name: vectors_near_in_session
-- The same within one session.
WITH near AS MATERIALIZED (
    SELECT key FROM {table}
    WHERE bits MATCH vec_quantize_binary(
        vec_sub(:query, (SELECT centre FROM embedding_spaces WHERE id = :space_id))
    ) AND k = :wide AND scope_id = :scope_id
        AND session_pk = :session_pk AND kind IN (SELECT value FROM json_each(:kinds))
)
SELECT f.key, vec_distance_cosine(f.vector, :query) AS distance
FROM near CROSS JOIN {table}_floats AS f ON f.key = near.key
ORDER BY distance, f.key
LIMIT :k

-- name: vectors_near_of_agent
-- The agent is no column of vec0, since few ask for it; the keys are given to it, so that it still filters first.
WITH near AS MATERIALIZED (
    SELECT key FROM {table}
    WHERE bits MATCH vec_quantize_binary(
        vec_sub(:query, (SELECT centre FROM embedding_spaces WHERE id = :space_id))
    ) AND k = :wide AND scope_id = :scope_id AND key IN (
        SELECT 4 * m.id FROM main_messages AS m
        WHERE m.scope_id = :scope_id AND m.agent_id = :agent_id
            AND (:session_pk IS NULL OR m.session_pk = :session_pk) AND 0 IN (SELECT value FROM json_each(:kinds))
        UNION ALL
        SELECT 4 * t.id + 1 FROM short_term_memories AS t JOIN sessions AS s ON s.id = t.session_pk
        WHERE t.scope_id = :scope_id AND s.agent_id = :agent_id
            AND (:session_pk IS NULL OR t.session_pk = :session_pk) AND 1 IN (SELECT value FROM json_each(:kinds))
        UNION ALL
        SELECT 4 * l.id + 2 FROM long_term_memories AS l
        WHERE l.scope_id = :scope_id AND l.owner_agent = :agent_id
            AND (:session_pk IS NULL OR l.source_session = :session_pk)
            AND 2 IN (SELECT value FROM json_each(:kinds))
    )
)
SELECT f.key, vec_distance_cosine(f.vector, :query) AS distance
FROM near CROSS JOIN {table}_floats AS f ON f.key = near.key
ORDER BY distance, f.key
LIMIT :k

-- name: vectors_fetch
-- Vectors to compare with one another.
SELECT f.key, f.vector FROM json_each(:keys) AS j CROSS JOIN {table}_floats AS f ON f.key = j.value

-- name: vectors_count
-- For health.
SELECT count(*) FROM {table}_floats
