-- name: scopes_find
-- Every read starts here: no scope, no rows.
SELECT id FROM scopes WHERE namespace = :namespace AND user_id = :user_id

-- name: scopes_add
-- A scope is made by the first event of its user.
INSERT INTO scopes (namespace, user_id) VALUES (:namespace, :user_id) RETURNING id
