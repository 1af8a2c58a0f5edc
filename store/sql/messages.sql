-- name: messages_next_id
-- sqlite_sequence remembers the highest id ever given, also after its row was deleted.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'main_messages'), 0) + 1

-- name: messages_insert
-- The consumer's hot path: positional, bound from tuples.
INSERT INTO main_messages (
    id, session_pk, scope_id, event_id, seq, turn, turn_id, role, content, msg_type, agent_id, data_source, parent_id,
    run_id, token_count, has_embedding, occurred_at, ingested_at, metadata
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: messages_window
-- Working memory: the newest messages after a reset or a checkpoint.
SELECT
    m.id, m.event_id, s.session_id, m.role, m.content, m.occurred_at, m.seq, m.turn, m.msg_type, m.token_count,
    m.metadata
FROM main_messages AS m JOIN sessions AS s ON s.id = m.session_pk
WHERE m.session_pk = :session_pk AND m.seq > :after
ORDER BY m.seq DESC
LIMIT :limit

-- name: messages_after_seq
-- What a compaction takes: from the last boundary to the new one.
SELECT
    m.id, m.event_id, s.session_id, m.role, m.content, m.occurred_at, m.seq, m.turn, m.msg_type, m.token_count,
    m.metadata
FROM main_messages AS m JOIN sessions AS s ON s.id = m.session_pk
WHERE m.session_pk = :session_pk AND m.seq > :after AND m.seq <= :up_to
ORDER BY m.seq
LIMIT :limit

-- name: messages_by_ids
-- What a search found; the scope is asked again, so that a wrong id shows nothing of another user.
SELECT
    m.id, m.event_id, s.session_id, m.role, m.content, m.occurred_at, m.seq, m.turn, m.msg_type, m.token_count,
    m.metadata
FROM json_each(:ids) AS j
CROSS JOIN main_messages AS m ON m.id = j.value
JOIN sessions AS s ON s.id = m.session_pk
WHERE m.scope_id = :scope_id AND (:session_id IS NULL OR s.session_id = :session_id)
ORDER BY j.key

-- name: messages_beside
-- An answer often stands beside the words that were asked for. A message without neighbours has its row too.
SELECT m.id, m.token_count, n.id
FROM json_each(:ids) AS j
CROSS JOIN main_messages AS m ON m.id = j.value
LEFT JOIN main_messages AS n
    ON n.session_pk = m.session_pk AND n.seq IN (m.seq - 1, m.seq + 1) AND n.scope_id = m.scope_id
WHERE m.scope_id = :scope_id

-- name: messages_turn
-- A summary is made of one turn.
SELECT
    m.id, m.event_id, s.session_id, m.role, m.content, m.occurred_at, m.seq, m.turn, m.msg_type, m.token_count,
    m.metadata
FROM main_messages AS m JOIN sessions AS s ON s.id = m.session_pk
WHERE m.session_pk = :session_pk AND m.turn = :turn
ORDER BY m.seq

-- name: messages_turns
-- An extraction window is some turns in a row.
SELECT
    m.id, m.event_id, s.session_id, m.role, m.content, m.occurred_at, m.seq, m.turn, m.msg_type, m.token_count,
    m.metadata
FROM main_messages AS m JOIN sessions AS s ON s.id = m.session_pk
WHERE m.session_pk = :session_pk AND m.turn BETWEEN :first AND :last
ORDER BY m.seq

-- name: messages_turn_named
-- A late message finds the turn that it names.
SELECT max(turn) FROM main_messages WHERE session_pk = :session_pk AND turn_id = :turn_id

-- name: messages_contents
-- Texts to embed; a message that was erased meanwhile is simply not there.
SELECT m.id, m.scope_id, m.session_pk, m.role, m.content, m.metadata ->> '$.name' AS name, m.occurred_at
FROM json_each(:ids) AS j CROSS JOIN main_messages AS m ON m.id = j.value

-- name: messages_mark_embedded
-- Together with the vectors.
UPDATE main_messages SET has_embedding = 1 WHERE id = ?
