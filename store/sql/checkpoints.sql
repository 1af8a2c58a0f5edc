-- name: checkpoints_active
-- One a session; the window starts after its boundary. One from before a reset stands for nothing any more.
SELECT c.id, c.boundary_seq, c.summary, c.token_count, c.message_count, c.source_tokens
FROM sessions AS s JOIN session_checkpoints AS c ON c.session_pk = s.id
WHERE s.namespace = :namespace AND s.session_id = :session_id AND (s.scope_id = :scope_id OR s.shared)
    AND c.active AND c.status = 'success' AND c.summary IS NOT NULL AND c.boundary_seq > s.reset_seq

-- name: checkpoints_active_of_session
-- The same for the workers, who have the session from a job.
SELECT c.id, c.boundary_seq, c.summary, c.token_count, c.message_count, c.source_tokens
FROM sessions AS s JOIN session_checkpoints AS c ON c.session_pk = s.id
WHERE s.id = :session_pk AND c.active AND c.status = 'success' AND c.summary IS NOT NULL AND c.boundary_seq > s.reset_seq

-- name: checkpoints_session
-- What a compaction needs of its session.
SELECT namespace, reset_seq, compact_seq FROM sessions WHERE id = :session_pk

-- name: checkpoints_begin
-- One row a boundary. A pending one is taken over when its lease or that of its job has lapsed; a failed one is tried again.
INSERT INTO session_checkpoints (
    session_pk, status, active, boundary_seq, attempts, lease_until, lease_token, created_at, updated_at
) VALUES (:session_pk, 'pending', 0, :boundary_seq, 1, :until, :token, :now, :now)
ON CONFLICT (session_pk, boundary_seq) DO UPDATE SET
    status = 'pending', attempts = attempts + 1, lease_until = :until, lease_token = :token, reason = NULL, updated_at = :now
WHERE status = 'failed' OR (status = 'pending' AND (lease_token = :token OR lease_until <= :now OR NOT EXISTS (
    SELECT 1 FROM jobs AS j
    WHERE j.kind = 'compact' AND j.state = 'running' AND j.lease_token = session_checkpoints.lease_token AND j.lease_until > :now
)))
RETURNING id

-- name: checkpoints_held
-- Asked inside the transaction that switches.
SELECT c.session_pk, c.boundary_seq, s.reset_seq, coalesce(
    (SELECT a.boundary_seq FROM session_checkpoints AS a WHERE a.session_pk = c.session_pk AND a.active), 0
) AS active_seq
FROM session_checkpoints AS c JOIN sessions AS s ON s.id = c.session_pk
WHERE c.id = :id AND c.status = 'pending' AND c.lease_token = :token

-- name: checkpoints_retire
-- Before the new one becomes active: the unique index allows one.
UPDATE session_checkpoints SET active = 0, updated_at = :now WHERE session_pk = :session_pk AND active

-- name: checkpoints_succeed
-- From here on readers see it.
UPDATE session_checkpoints SET
    status = 'success', active = 1, base_id = :base_id, summary = :summary, token_count = :token_count,
    message_count = :message_count, source_tokens = :source_tokens, method = :method, reason = NULL,
    lease_until = NULL, lease_token = NULL, updated_at = :now
WHERE id = :id AND status = 'pending' AND lease_token = :token

-- name: checkpoints_fail
-- It stays with its reason until it is tried again.
UPDATE session_checkpoints SET
    status = 'failed', reason = :reason, lease_until = NULL, lease_token = NULL, updated_at = :now
WHERE id = :id AND status = 'pending' AND lease_token = :token

-- name: checkpoints_trim
-- Each stands for all that the earlier ones did; a few stay to show how it came about.
DELETE FROM session_checkpoints
WHERE session_pk = :session_pk AND NOT active AND status <> 'pending' AND id NOT IN (
    SELECT id FROM session_checkpoints WHERE session_pk = :session_pk AND NOT active AND status <> 'pending'
    ORDER BY boundary_seq DESC LIMIT :keep
)

-- name: checkpoints_give_up
-- Its job has come again and found nothing left to do; one that another job still works on is left to it.
UPDATE session_checkpoints SET
    status = 'failed', reason = 'overtaken: these messages are compacted or reset', lease_until = NULL, lease_token = NULL,
    updated_at = :now
WHERE session_pk = :session_pk AND status = 'pending' AND boundary_seq <= max(
    (SELECT s.reset_seq FROM sessions AS s WHERE s.id = :session_pk),
    coalesce((SELECT a.boundary_seq FROM session_checkpoints AS a WHERE a.session_pk = :session_pk AND a.active), 0)
) AND NOT EXISTS (
    SELECT 1 FROM jobs AS j
    WHERE j.kind = 'compact' AND j.state = 'running' AND j.lease_token = session_checkpoints.lease_token AND j.lease_until > :now
)
