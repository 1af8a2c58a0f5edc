-- name: features_messages
-- The scope is asked again, so that a wrong key tells nothing of another user. In a session of one user all messages are
-- of one scope, so that the neighbours are found in the index alone.
SELECT
    4 * m.id, m.session_pk, 4 * b.id, 4 * a.id, m.token_count, m.occurred_at, m.metadata ->> '$.name',
    substr(trim(m.content), -1) IN ('?', '？'), 0.0, 1.0
FROM json_each(:ids) AS j
CROSS JOIN main_messages AS m ON m.id = j.value
CROSS JOIN sessions AS s ON s.id = m.session_pk
LEFT JOIN main_messages AS b
    ON b.session_pk = m.session_pk AND b.seq = m.seq - 1 AND (NOT s.shared OR b.scope_id = m.scope_id)
LEFT JOIN main_messages AS a
    ON a.session_pk = m.session_pk AND a.seq = m.seq + 1 AND (NOT s.shared OR a.scope_id = m.scope_id)
WHERE m.scope_id = :scope_id

-- name: features_summaries
-- Only those in recall.
SELECT
    4 * t.id + 1, t.session_pk, NULL, NULL, length(t.content) / 4.0, t.occurred_at, NULL, 0, t.confidence, t.confidence
FROM json_each(:ids) AS j CROSS JOIN short_term_memories AS t ON t.id = j.value
WHERE t.scope_id = :scope_id AND t.in_recall

-- name: features_facts
-- Whether one may be found was decided before (selection_facts).
SELECT
    4 * l.id + 2, l.source_session, NULL, NULL, length(l.content) / 4.0, l.valid_from, NULL, 0,
    (l.confidence + l.importance + l.weight) / 3.0, l.confidence
FROM json_each(:ids) AS j CROSS JOIN long_term_memories AS l ON l.id = j.value
WHERE l.scope_id = :scope_id

-- name: features_timeline
-- Dated by its end.
SELECT 4 * t.id + 3, t.session_pk, NULL, NULL, length(t.content) / 4.0, t.ends_at, NULL, 0, 0.5, 1.0
FROM json_each(:ids) AS j CROSS JOIN timeline AS t ON t.id = j.value
WHERE t.scope_id = :scope_id

-- name: features_sessions
-- The counters that the consumer keeps.
SELECT s.id, s.message_count, s.token_count FROM json_each(:ids) AS j CROSS JOIN sessions AS s ON s.id = j.value

-- name: features_scope
-- The same for all of a user.
SELECT count(*), coalesce(sum(message_count), 0), coalesce(sum(token_count), 0) FROM sessions WHERE scope_id = :scope_id

-- name: features_newest
-- The recency arm.
SELECT 4 * id FROM main_messages WHERE scope_id = :scope_id AND role <> 'system' ORDER BY id DESC LIMIT :limit

-- name: features_within
-- The time arm.
SELECT 4 * id FROM main_messages
WHERE scope_id = :scope_id AND occurred_at >= :start AND occurred_at < :end AND role <> 'system'
ORDER BY occurred_at DESC
LIMIT :limit

-- name: features_unindexed
-- Few enough to be matched by their words where they are.
SELECT 4 * l.id + 2, l.content FROM json_each(:facts) AS j CROSS JOIN long_term_memories AS l ON l.id = j.value
WHERE l.scope_id = :scope_id AND l.status <> 'active'
UNION ALL
SELECT 4 * t.id + 3, t.content FROM json_each(:entries) AS j CROSS JOIN timeline AS t ON t.id = j.value
WHERE t.scope_id = :scope_id
