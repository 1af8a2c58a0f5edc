-- name: scopes_find
-- Every read starts here: no scope, no rows.
SELECT id FROM scopes WHERE namespace = :namespace AND user_id = :user_id

-- name: scopes_add
-- A scope is made by the first event of its user.
INSERT INTO scopes (namespace, user_id) VALUES (:namespace, :user_id) RETURNING id

-- name: scopes_narrow
-- User and session in one step; every search starts with it.
SELECT c.id AS scope_id, s.id AS session_pk
FROM scopes AS c LEFT JOIN sessions AS s ON s.namespace = c.namespace AND s.session_id = :session_id
WHERE c.namespace = :namespace AND c.user_id = :user_id

-- name: scopes_by_id
-- A worker has the number from a job.
SELECT namespace, user_id FROM scopes WHERE id = :id

-- name: scope_left_out
-- What an export does not hold, so that it can be said.
SELECT
    (SELECT count(*) FROM jobs AS j WHERE j.namespace = :namespace AND j.state <> 'done' AND (
        j.payload ->> '$.scope_id' = :scope_id
        OR j.payload ->> '$.session_pk' IN (SELECT s.id FROM sessions AS s WHERE s.scope_id = :scope_id)
    )) AS jobs,
    (SELECT count(*) FROM fact_generations AS g WHERE g.scope_id = :scope_id) AS generations,
    (SELECT count(*) FROM archives AS a WHERE a.namespace = :namespace) AS archive_files
