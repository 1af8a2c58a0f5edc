-- name: events_digest
-- A repeat with the same digest is a no-op, with another a dead letter.
SELECT digest FROM events WHERE namespace = :namespace AND event_id = :event_id

-- name: events_digests
-- The same for a whole batch in one statement; :ids is a JSON array of [namespace, event id].
SELECT e.namespace, e.event_id, e.digest
FROM json_each(:ids) AS j
CROSS JOIN events AS e ON e.namespace = j.value ->> 0 AND e.event_id = j.value ->> 1

-- name: events_record
-- No OR IGNORE: a repeat that comes this far is a bug, and the transaction must fail.
INSERT INTO events (namespace, event_id, type, digest, entry_id, stored_at) VALUES (?, ?, ?, ?, ?, ?)

-- name: events_state
-- A message of turn 0 belongs to no turn, so that no summary is owed for it.
SELECT
    e.type,
    m.has_embedding,
    m.turn = 0 OR EXISTS (
        SELECT 1 FROM short_term_memories AS t
        WHERE t.session_pk = m.session_pk AND t.turn_first <= m.turn AND t.turn_last >= m.turn
    ) AS summarised
FROM events AS e
LEFT JOIN main_messages AS m ON m.event_id = e.event_id AND e.type = 'message' AND EXISTS (
    SELECT 1 FROM sessions AS s WHERE s.id = m.session_pk AND s.namespace = e.namespace
)
WHERE e.namespace = :namespace AND e.event_id = :event_id
