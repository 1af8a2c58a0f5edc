-- name: summaries_insert
-- A turn is summarised once, however often its job runs.
INSERT INTO short_term_memories (
    session_pk, scope_id, turn_first, turn_last, content, source_count, confidence, method, occurred_at, created_at
) VALUES (
    :session_pk, :scope_id, :turn_first, :turn_last, :content, :source_count, :confidence, :method, :occurred_at, :now
) ON CONFLICT (session_pk, turn_first, turn_last) DO NOTHING RETURNING id

-- name: summaries_retire
-- Newest by turn, not by when it was written: a late summary of an old turn pushes no newer one out.
UPDATE short_term_memories SET in_recall = 0, has_embedding = 0
WHERE in_recall AND session_pk = :session_pk AND id NOT IN (
    SELECT id FROM short_term_memories WHERE session_pk = :session_pk ORDER BY turn_last DESC LIMIT :keep
) RETURNING id

-- name: summaries_recent
-- The newest of a user over all sessions.
SELECT
    t.id, s.session_id, t.turn_first, t.turn_last, t.content, t.confidence, t.method, t.occurred_at
FROM short_term_memories AS t JOIN sessions AS s ON s.id = t.session_pk
WHERE t.in_recall AND t.scope_id = :scope_id
ORDER BY t.occurred_at DESC, t.id DESC
LIMIT :limit

-- name: summaries_recent_of_session
-- The context's summaries of this session.
SELECT
    t.id, s.session_id, t.turn_first, t.turn_last, t.content, t.confidence, t.method, t.occurred_at
FROM sessions AS s JOIN short_term_memories AS t ON t.session_pk = s.id
WHERE s.namespace = :namespace AND s.session_id = :session_id AND (t.scope_id = :scope_id OR s.shared) AND t.in_recall
ORDER BY t.turn_last DESC
LIMIT :limit

-- name: summaries_by_ids
-- What a search found; scope and recall are asked again.
SELECT
    t.id, s.session_id, t.turn_first, t.turn_last, t.content, t.confidence, t.method, t.occurred_at
FROM json_each(:ids) AS j
CROSS JOIN short_term_memories AS t ON t.id = j.value
JOIN sessions AS s ON s.id = t.session_pk
WHERE t.in_recall AND t.scope_id = :scope_id AND (:session_id IS NULL OR s.session_id = :session_id)
ORDER BY j.key

-- name: summaries_contents
-- Texts to embed; one that left recall meanwhile needs no vector.
SELECT t.id, t.scope_id, t.session_pk, t.content, t.occurred_at
FROM json_each(:ids) AS j CROSS JOIN short_term_memories AS t ON t.id = j.value
WHERE t.in_recall

-- name: summaries_mark_embedded
-- Together with the vectors.
UPDATE short_term_memories SET has_embedding = 1 WHERE id = ?
