-- name: checkpoints_active
-- One a session; the window starts after its boundary.
SELECT c.boundary_seq, c.summary, c.token_count
FROM sessions AS s JOIN session_checkpoints AS c ON c.session_pk = s.id
WHERE s.namespace = :namespace AND s.session_id = :session_id AND (s.scope_id = :scope_id OR s.shared)
    AND c.active AND c.status = 'success' AND c.summary IS NOT NULL AND c.boundary_seq > s.reset_seq
