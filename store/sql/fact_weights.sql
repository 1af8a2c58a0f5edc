-- name: fact_weights_of
-- What an answer was given, as far as it is still recalled.
SELECT
    id, memory_id, content, source_session, importance, weight, coalesce(weighed_at, created_at) AS weighed_at, pinned,
    weight_held AS held
FROM long_term_memories
WHERE scope_id = :scope_id AND memory_id IN (SELECT value FROM json_each(:memory_ids)) AND status = 'active'

-- name: fact_weights_move
-- One fact an answer was given; positional, since several are bound at once.
UPDATE long_term_memories
SET weight = ?1, weighed_at = ?2, access_count = access_count + ?3,
    last_accessed = CASE WHEN ?3 THEN max(coalesce(last_accessed, 0), ?4) ELSE last_accessed END
WHERE id = ?5

-- name: fact_weights_log
-- Once an answer, however often its event is worked on.
INSERT INTO memory_usage_log (memory_id, scope_id, session_pk, used, at, event_id, answer_id, score, weight)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT DO NOTHING

-- name: fact_weights_answer
-- The answer that was given the facts, by the event that it was published as.
SELECT id, turn, content FROM main_messages
WHERE event_id = :event_id AND session_pk = :session_pk AND role = 'assistant'

-- name: fact_weights_last_answer
-- For a publisher that names no answer: the newest of the session.
SELECT id, turn, content FROM main_messages
WHERE session_pk = :session_pk AND role = 'assistant'
ORDER BY seq DESC
LIMIT 1

-- name: fact_weights_asked
-- What the answer answers.
SELECT content FROM main_messages WHERE session_pk = :session_pk AND turn = :turn AND role = 'user' ORDER BY seq

-- name: fact_weights_active
-- Everything that may fade, be expired or be too many; a scope at a time comes out together.
SELECT
    id, memory_id, scope_id, importance, weight, coalesce(weighed_at, created_at) AS weighed_at, pinned,
    weight_held AS held, expires_at
FROM long_term_memories
WHERE status = 'active' AND scope_id = :scope_id

-- name: fact_weights_scopes
-- Whose facts there are, from one scope on: the upkeep goes from one to the next.
SELECT DISTINCT scope_id FROM long_term_memories WHERE status = 'active' AND scope_id > :after ORDER BY scope_id LIMIT :limit
