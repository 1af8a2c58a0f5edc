-- name: doctor_foreign_keys
-- SQLite checks them at each write; a file that was mended by hand may break them.
PRAGMA foreign_key_check

-- name: doctor_unindexed
-- What may be searched and is not in the index; a text without a single word is not missed there. The system's messages
-- are not searched.
SELECT 'message' AS kind, m.id, m.scope_id, m.content, m.metadata ->> '$.name' FROM main_messages AS m
WHERE m.role <> 'system' AND NOT EXISTS (SELECT 1 FROM memory_fts AS f WHERE f.rowid = 4 * m.id)
UNION ALL
SELECT 'summary', t.id, t.scope_id, t.content, NULL FROM short_term_memories AS t
WHERE t.in_recall AND NOT EXISTS (SELECT 1 FROM memory_fts AS f WHERE f.rowid = 4 * t.id + 1)
UNION ALL
SELECT 'fact', l.id, l.scope_id, l.content, NULL FROM long_term_memories AS l
WHERE l.status = 'active' AND NOT EXISTS (SELECT 1 FROM memory_fts AS f WHERE f.rowid = 4 * l.id + 2)

-- name: doctor_lone_floats
-- A search never finds them.
SELECT f.key FROM {table}_floats AS f WHERE f.key NOT IN (SELECT key FROM {table})

-- name: doctor_lone_bits
-- A search finds them and can rank none of them.
SELECT b.key FROM {table} AS b WHERE b.key NOT IN (SELECT key FROM {table}_floats)

-- name: doctor_unembedded
-- Of the active space alone: another is filled in the background.
SELECT m.id, c.namespace FROM main_messages AS m JOIN scopes AS c ON c.id = m.scope_id
WHERE m.has_embedding = 1 AND NOT EXISTS (SELECT 1 FROM {table}_floats AS f WHERE f.key = 4 * m.id)
ORDER BY m.id

-- name: doctor_without_job
-- A job that is pending, running, or dead with its letter is somebody's business already.
SELECT m.id, c.namespace FROM main_messages AS m JOIN scopes AS c ON c.id = m.scope_id
WHERE m.has_embedding = 0 AND NOT EXISTS (
    SELECT 1 FROM jobs AS j WHERE j.kind = 'embed' AND j.subject = 'message:' || m.id AND j.state <> 'done'
)
ORDER BY m.id

-- name: doctor_miscounted
-- Searches estimate a scope's size by it.
SELECT s.id FROM sessions AS s
WHERE s.message_count <> (SELECT count(*) FROM main_messages AS m WHERE m.session_pk = s.id)
ORDER BY s.id

-- name: doctor_recount
-- As it is.
UPDATE sessions SET message_count = (SELECT count(*) FROM main_messages AS m WHERE m.session_pk = sessions.id)
WHERE id = ?

-- name: doctor_unsummarised
-- Summaries in recall are the newest of their session and stay; what is older may have gone by age.
SELECT m.session_pk, m.turn, s.namespace FROM main_messages AS m JOIN sessions AS s ON s.id = m.session_pk
WHERE (s.open_turn IS NULL OR m.turn < s.open_turn) AND m.turn > 0
    AND m.turn >= coalesce(
        (SELECT min(t.turn_first) FROM short_term_memories AS t WHERE t.session_pk = s.id AND t.in_recall), 0
    )
    AND NOT EXISTS (
        SELECT 1 FROM short_term_memories AS t
        WHERE t.session_pk = s.id AND m.turn BETWEEN t.turn_first AND t.turn_last
    )
    AND NOT EXISTS (
        SELECT 1 FROM jobs AS j
        WHERE j.kind = 'summarise' AND j.subject = 'turn:' || m.session_pk || ':' || m.turn AND j.state <> 'done'
    )
GROUP BY m.session_pk, m.turn
ORDER BY m.session_pk, m.turn

-- name: doctor_owe_summary
-- The job that made the one that is gone may stand there as done.
INSERT INTO jobs (kind, subject, namespace, payload, due_at, created_at, updated_at)
VALUES (
    'summarise', 'turn:' || :session_pk || ':' || :turn, :namespace,
    json_object('session_pk', :session_pk, 'turn', :turn), :now, :now, :now
)
ON CONFLICT (kind, subject) DO UPDATE SET state = 'pending', due_at = :now, updated_at = :now, attempts = 0
WHERE state = 'done'
