-- name: spaces_add
-- The first space is the active one; a later one is filled in the background before it is.
INSERT INTO embedding_spaces (model, dimensions, active, centre, created_at)
VALUES (
    :model, :dimensions, NOT EXISTS (SELECT 1 FROM embedding_spaces WHERE active), zeroblob(4 * :dimensions), :now
)
ON CONFLICT (model, dimensions) DO NOTHING

-- name: spaces_find
-- A model under other dimensions is another space.
SELECT id, model, dimensions, active FROM embedding_spaces WHERE model = :model AND dimensions = :dimensions

-- name: spaces_has_table
-- It is missing where sqlite-vec was, when the space was made.
SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :table

-- name: spaces_active
-- At most one, by a unique index.
SELECT id, model, dimensions, active FROM embedding_spaces WHERE active

-- name: spaces_all
-- What leaves recall leaves every space.
SELECT id, model, dimensions, active FROM embedding_spaces ORDER BY id

-- name: spaces_deactivate
-- First, because of the unique index.
UPDATE embedding_spaces SET active = 0 WHERE active

-- name: spaces_activate
-- Second.
UPDATE embedding_spaces SET active = 1 WHERE id = :id

-- name: spaces_centred
-- Asked at every write until the centre stands.
SELECT centred FROM embedding_spaces WHERE id = :id

-- name: spaces_set_centre
-- Once; all bits are made anew in the same transaction.
UPDATE embedding_spaces SET centre = :centre, centred = :centred WHERE id = :id

-- name: spaces_keep
-- The model came back before its vectors were gone.
UPDATE embedding_spaces SET retired_at = NULL WHERE id = :id AND retired_at IS NOT NULL

-- name: spaces_retire_others
-- Nothing searches them any more.
UPDATE embedding_spaces SET retired_at = :now WHERE id <> :id AND retired_at IS NULL

-- name: spaces_retired
-- What is left of them is deleted a little at a time.
SELECT id, model, dimensions, active FROM embedding_spaces WHERE retired_at IS NOT NULL AND NOT active ORDER BY id

-- name: spaces_some_keys
-- The next to be deleted.
SELECT scope_id, key FROM vector_keys WHERE space_id = :id LIMIT :limit

-- name: spaces_delete_key
-- Together with its vector.
DELETE FROM vector_keys WHERE space_id = ? AND scope_id = ? AND key = ?

-- name: spaces_delete_cached
-- So many that no transaction becomes long.
DELETE FROM embedding_cache
WHERE rowid IN (SELECT rowid FROM embedding_cache WHERE space_id = :id LIMIT :limit)
RETURNING 1

-- name: spaces_delete_scopes
-- Before the space itself, whose row they point at.
DELETE FROM vector_scopes WHERE space_id = :id

-- name: spaces_delete
-- Last.
DELETE FROM embedding_spaces WHERE id = :id

-- name: spaces_missing
-- Rows that one space has and another lacks, in the order of scope and key; the pieces of a re-embedding.
SELECT k.scope_id, k.key, k.session_pk FROM vector_keys AS k
WHERE k.space_id = :old AND (k.scope_id, k.key) > (:scope_id, :key) AND NOT k.gone
    AND NOT EXISTS (
        SELECT 1 FROM vector_keys AS n
        WHERE n.space_id = :new AND n.scope_id = k.scope_id AND n.key = k.key AND NOT n.gone
    )
ORDER BY k.scope_id, k.key
LIMIT :limit

-- name: spaces_filling
-- For whoever asks how far it is: the space that is searched, the one that is filled, and what both have.
SELECT
    a.model AS old, a.dimensions AS old_dimensions, n.model AS new, n.dimensions AS new_dimensions,
    (SELECT coalesce(sum(vectors), 0) FROM vector_scopes WHERE space_id = n.id) AS done,
    (SELECT coalesce(sum(vectors), 0) FROM vector_scopes WHERE space_id = a.id) AS total
FROM embedding_spaces AS a JOIN embedding_spaces AS n ON NOT n.active AND n.retired_at IS NULL
WHERE a.active
    AND EXISTS (
        SELECT 1 FROM jobs AS j
        WHERE j.kind = :kind AND j.state IN ('pending', 'running', 'dead') AND j.subject GLOB n.id || ':*'
    )

-- name: spaces_being_filled
-- A re-embedding has one piece at a time: a job that is due, or dead until somebody revives it.
SELECT 1 FROM jobs
WHERE kind = :kind AND state IN ('pending', 'running', 'dead') AND subject GLOB :space_id || ':*'
LIMIT 1
