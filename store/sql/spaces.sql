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
