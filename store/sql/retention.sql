-- name: retention_due_message
-- By when it was stored, so that an import of old chats does not vanish at once; never of a turn that is still open.
SELECT m.id, NULL FROM main_messages AS m
JOIN sessions AS s ON s.id = m.session_pk
JOIN scopes AS c ON c.id = m.scope_id
WHERE m.id > :after AND m.ingested_at < :before AND c.namespace = :namespace
    AND (s.open_turn IS NULL OR m.turn < s.open_turn)
    AND NOT EXISTS (SELECT 1 FROM restored_items AS r WHERE r.kind = 'message' AND r.row_id = m.id AND r.until > :now)
    AND NOT EXISTS (
        SELECT 1 FROM legal_holds AS h WHERE h.namespace = c.namespace AND h.user_id IN ('', c.user_id)
    )
ORDER BY m.id
LIMIT :limit

-- name: retention_due_summary
-- Those in recall are the newest of their session, and stay for as long as it has a message: else every session that
-- ever was would keep its ten.
SELECT t.id, NULL FROM short_term_memories AS t JOIN scopes AS c ON c.id = t.scope_id
WHERE t.id > :after AND t.created_at < :before AND c.namespace = :namespace
    AND (NOT t.in_recall OR NOT EXISTS (SELECT 1 FROM main_messages AS m WHERE m.session_pk = t.session_pk))
    AND NOT EXISTS (SELECT 1 FROM restored_items AS r WHERE r.kind = 'summary' AND r.row_id = t.id AND r.until > :now)
    AND NOT EXISTS (
        SELECT 1 FROM legal_holds AS h WHERE h.namespace = c.namespace AND h.user_id IN ('', c.user_id)
    )
ORDER BY t.id
LIMIT :limit

-- name: retention_due_run
-- A run that never ended stays: its reports may still come.
SELECT u.id, NULL FROM subagent_runs AS u JOIN scopes AS c ON c.id = u.scope_id
WHERE u.id > :after AND u.finished_at < :before AND c.namespace = :namespace
    AND NOT EXISTS (SELECT 1 FROM restored_items AS r WHERE r.kind = 'run' AND r.row_id = u.id AND r.until > :now)
    AND NOT EXISTS (
        SELECT 1 FROM legal_holds AS h WHERE h.namespace = c.namespace AND h.user_id IN ('', c.user_id)
    )
ORDER BY u.id
LIMIT :limit

-- name: retention_due_timeline
-- A period's age counts from its end.
SELECT t.id, NULL FROM timeline AS t JOIN scopes AS c ON c.id = t.scope_id
WHERE t.id > :after AND t.ends_at < :before AND c.namespace = :namespace
    AND NOT EXISTS (SELECT 1 FROM restored_items AS r WHERE r.kind = 'timeline' AND r.row_id = t.id AND r.until > :now)
    AND NOT EXISTS (
        SELECT 1 FROM legal_holds AS h WHERE h.namespace = c.namespace AND h.user_id IN ('', c.user_id)
    )
ORDER BY t.id
LIMIT :limit

-- name: retention_due_fact
-- What left recall: superseded, archived by weight or expiry, or forgotten. Age counts from then.
SELECT l.id, l.importance FROM long_term_memories AS l JOIN scopes AS c ON c.id = l.scope_id
WHERE l.id > :after AND l.status IN ('superseded', 'archived', 'deleted') AND l.updated_at < :before
    AND c.namespace = :namespace
    AND NOT EXISTS (SELECT 1 FROM restored_items AS r WHERE r.kind = 'fact' AND r.row_id = l.id AND r.until > :now)
    AND NOT EXISTS (
        SELECT 1 FROM legal_holds AS h WHERE h.namespace = c.namespace AND h.user_id IN ('', c.user_id)
    )
ORDER BY l.id
LIMIT :limit

-- name: retention_due_dead_letter
-- Only those that somebody has dealt with: nothing dies in silence.
SELECT d.id, NULL FROM dead_letters AS d
WHERE d.id > :after AND d.status <> 'dead' AND d.updated_at < :before AND d.namespace = :namespace
    AND NOT EXISTS (
        SELECT 1 FROM restored_items AS r WHERE r.kind = 'dead_letter' AND r.row_id = d.id AND r.until > :now
    )
    AND NOT EXISTS (SELECT 1 FROM legal_holds AS h WHERE h.namespace = d.namespace)
ORDER BY d.id
LIMIT :limit

-- name: retention_due_usage
-- Feedback has long been worked into the weights.
SELECT u.id, NULL FROM memory_usage_log AS u JOIN scopes AS c ON c.id = u.scope_id
WHERE u.id > :after AND u.at < :before AND c.namespace = :namespace AND :now IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM legal_holds AS h WHERE h.namespace = c.namespace AND h.user_id IN ('', c.user_id)
    )
ORDER BY u.id
LIMIT :limit

-- name: retention_due_job
-- A repeat is kept away by what the job was made from, which is written in the same transaction and only once.
SELECT j.id, NULL FROM jobs AS j
WHERE j.id > :after AND j.state = 'done' AND j.updated_at < :before AND j.namespace = :namespace AND :now IS NOT NULL
ORDER BY j.id
LIMIT :limit

-- name: retention_namespaces
-- Each has rules of its own.
SELECT DISTINCT namespace FROM scopes UNION SELECT DISTINCT namespace FROM dead_letters
UNION SELECT DISTINCT namespace FROM jobs
ORDER BY namespace

-- name: holds_put
-- A second hold on the same keeps the newer reason.
INSERT INTO legal_holds (namespace, user_id, reason, created_at) VALUES (:namespace, :user_id, :reason, :now)
ON CONFLICT (namespace, user_id) DO UPDATE SET reason = excluded.reason

-- name: holds_release
-- From here on age counts again.
DELETE FROM legal_holds WHERE namespace = :namespace AND user_id = :user_id RETURNING reason

-- name: holds_list
-- For people.
SELECT namespace, user_id, reason, created_at FROM legal_holds ORDER BY namespace, user_id

-- name: holds_on
-- A namespace's hold is on each of its users.
SELECT reason FROM legal_holds WHERE namespace = :namespace AND user_id IN ('', :user_id) LIMIT 1
