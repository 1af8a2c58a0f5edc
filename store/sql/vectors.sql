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

-- name: vectors_mark
-- Whether what a reader holds in memory is what the file holds, in one row.
SELECT v.version, v.vectors, e.centred FROM vector_scopes AS v JOIN embedding_spaces AS e ON e.id = v.space_id
WHERE v.space_id = :space_id AND v.scope_id = :scope_id

-- name: vectors_next_version
-- Every write to a scope's vectors has a number; its row holds the scope's count too.
INSERT INTO vector_scopes (space_id, scope_id, version, vectors) VALUES (:space_id, :scope_id, 1, 0)
ON CONFLICT (space_id, scope_id) DO UPDATE SET version = version + 1
RETURNING version

-- name: vectors_standing
-- Those of the keys that have a vector already; they are not counted twice.
SELECT k.key FROM json_each(:keys) AS j
CROSS JOIN vector_keys AS k ON k.space_id = :space_id AND k.scope_id = :scope_id AND k.key = j.value
WHERE NOT k.gone

-- name: vectors_put_key
-- Once a vector, with the number of the write.
INSERT INTO vector_keys (space_id, scope_id, key, session_pk, version) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (space_id, scope_id, key) DO UPDATE
SET session_pk = excluded.session_pk, version = excluded.version, gone = 0

-- name: vectors_key_gone
-- The row stays for readers that have the vector in memory.
UPDATE vector_keys SET gone = 1, version = ? WHERE space_id = ? AND scope_id = ? AND key = ?

-- name: vectors_forget_gone
-- A reader that is so far behind loads the scope anew.
DELETE FROM vector_keys WHERE space_id = :space_id AND scope_id = :scope_id AND version < :before AND gone

-- name: vectors_count_scope
-- Kept, since counting takes as long as reading.
UPDATE vector_scopes SET vectors = vectors + :more WHERE space_id = :space_id AND scope_id = :scope_id

-- name: vectors_scopes_of
-- Who removes a vector knows its id and not whose it is; vec0 does.
SELECT b.scope_id, b.key FROM json_each(:keys) AS j CROSS JOIN {table} AS b ON b.key = j.value

-- name: vectors_centre
-- Bits are signs against it.
SELECT centre FROM embedding_spaces WHERE id = :id

-- name: vectors_load
-- A whole scope into memory, some thousand rows at a time.
SELECT k.key, k.session_pk, f.vector
FROM vector_keys AS k CROSS JOIN {table}_floats AS f ON f.key = k.key
WHERE k.space_id = :space_id AND k.scope_id = :scope_id AND k.key > :after AND NOT k.gone
ORDER BY k.key
LIMIT :limit

-- name: vectors_changed
-- What was written or removed since a version; a row more than the limit says that there is more.
SELECT k.key, k.session_pk, f.vector
FROM vector_keys AS k LEFT JOIN {table}_floats AS f ON f.key = k.key AND NOT k.gone
WHERE k.space_id = :space_id AND k.scope_id = :scope_id AND k.version > :version
LIMIT :limit

-- name: vectors_cosines
-- The last comparison, in full, of what was found in memory.
SELECT f.key, 1.0 - vec_distance_cosine(f.vector, :query)
FROM json_each(:keys) AS j CROSS JOIN {table}_floats AS f ON f.key = j.value
