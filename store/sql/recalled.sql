-- name: recalled_facts
-- The scope is asked again, so that a wrong id shows nothing of another user.
SELECT l.*, s.session_id
FROM json_each(:ids) AS j
CROSS JOIN long_term_memories AS l ON l.id = j.value
LEFT JOIN sessions AS s ON s.id = l.source_session
WHERE l.scope_id = :scope_id AND (:session_id IS NULL OR s.session_id = :session_id)
ORDER BY j.key

-- name: recalled_timeline
-- The same for entries of the timeline.
SELECT
    t.id, t.level, t.period, t.content, t.starts_at, t.ends_at, t.raw_length, s.session_id, t.seq_first, t.seq_last,
    t.source_ids, t.rolled_into, t.method
FROM json_each(:ids) AS j
CROSS JOIN timeline AS t ON t.id = j.value
LEFT JOIN sessions AS s ON s.id = t.session_pk
WHERE t.scope_id = :scope_id AND (:session_id IS NULL OR s.session_id = :session_id)
ORDER BY j.key
