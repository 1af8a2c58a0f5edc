-- name: runs_start
-- A run starts once, also when its event is replayed.
INSERT INTO subagent_runs (session_pk, scope_id, run_id, agent_id, parent_id, brief, started_at, metadata)
VALUES (:session_pk, :scope_id, :run_id, :agent_id, :parent_id, :brief, :started_at, :metadata)
ON CONFLICT (session_pk, run_id) DO NOTHING

-- name: runs_find
-- Its row, for the messages that follow.
SELECT id FROM subagent_runs WHERE session_pk = :session_pk AND run_id = :run_id

-- name: runs_add_message
-- The seq is given here, under the writer's lock.
INSERT INTO subagent_messages (run_pk, event_id, seq, role, content, token_count, cut, occurred_at, metadata)
VALUES (
    :run_pk, :event_id, (SELECT coalesce(max(seq), 0) + 1 FROM subagent_messages WHERE run_pk = :run_pk), :role,
    :content, :token_count, :cut, :occurred_at, :metadata
) RETURNING seq

-- name: runs_finish
-- The first end stands.
UPDATE subagent_runs SET status = :status, report = :report, finished_at = :finished_at
WHERE id = :id AND status = 'running'
RETURNING id

-- name: runs_get
-- One run, in its scope only.
SELECT
    r.id, s.session_id, r.run_id, r.agent_id, r.parent_id, r.brief, r.report, r.status, r.started_at, r.finished_at,
    r.metadata
FROM sessions AS s JOIN subagent_runs AS r ON r.session_pk = s.id
WHERE s.namespace = :namespace AND s.session_id = :session_id AND r.run_id = :run_id AND r.scope_id = :scope_id

-- name: runs_list
-- For the API and the console.
SELECT
    r.id, s.session_id, r.run_id, r.agent_id, r.parent_id, r.brief, r.report, r.status, r.started_at, r.finished_at,
    r.metadata
FROM subagent_runs AS r JOIN sessions AS s ON s.id = r.session_pk
WHERE r.scope_id = :scope_id AND (:session_id IS NULL OR s.session_id = :session_id)
ORDER BY r.started_at DESC, r.id DESC
LIMIT :limit

-- name: runs_messages
-- What was said inside a run.
SELECT id, event_id, seq, role, content, token_count, cut, occurred_at, metadata FROM subagent_messages
WHERE run_pk = :run_pk
ORDER BY seq
