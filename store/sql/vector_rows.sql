-- name: vector_rows_centre
-- What all texts have in common.
SELECT centre FROM embedding_spaces WHERE id = :id
