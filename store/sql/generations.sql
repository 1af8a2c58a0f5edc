-- name: generations_insert
-- Begun by a person; jobs for each session are written with it.
INSERT INTO fact_generations (scope_id, model, prompt, sessions, sessions_left, actor, reason, created_at, updated_at)
VALUES (:scope_id, :model, :prompt, :sessions, json_array_length(:sessions), :actor, :reason, :now, :now)
RETURNING id

-- name: generations_get
-- By its number, whoever's it is: the workers have it from a job.
SELECT g.id, g.scope_id, c.namespace, c.user_id, g.state, g.model, g.prompt, g.sessions, g.sessions_left,
    g.actor, g.reason, g.created_at
FROM fact_generations AS g JOIN scopes AS c ON c.id = g.scope_id
WHERE g.id = :id

-- name: generations_list
-- What a person can look at, the newest first.
SELECT g.id, g.scope_id, c.namespace, c.user_id, g.state, g.model, g.prompt, g.sessions, g.sessions_left,
    g.actor, g.reason, g.created_at
FROM fact_generations AS g JOIN scopes AS c ON c.id = g.scope_id
WHERE c.namespace = :namespace AND (:user_id IS NULL OR c.user_id = :user_id)
ORDER BY g.id DESC
LIMIT :limit

-- name: generations_move
-- From one state to the next; nobody else has moved it meanwhile.
UPDATE fact_generations SET state = :state, sessions_left = json_array_length(sessions), updated_at = :now
WHERE id = :id AND state IN (SELECT value FROM json_each(:from_states))
RETURNING id

-- name: generations_one_done
-- In the transaction that finishes the session's job, so that each counts once; the last one moves the generation on.
UPDATE fact_generations
SET sessions_left = sessions_left - 1, updated_at = :now,
    state = CASE WHEN sessions_left > 1 THEN state WHEN state = 'building' THEN 'ready' ELSE 'active' END
WHERE id = :id AND state = :state

-- name: generations_forget_drafts
-- A session is worked on anew, or the generation is dropped.
DELETE FROM generation_drafts
WHERE generation_id = :id AND (:session_pk IS NULL OR session_pk = :session_pk) AND (:last IS NULL OR place <= :last)

-- name: generations_add_draft
-- Positional, since several are bound at once.
INSERT INTO generation_drafts (generation_id, session_pk, place, extractor, draft) VALUES (?, ?, ?, ?, ?)

-- name: generations_drafts
-- In the order in which the sessions began and things were said in them, so that later words meet earlier ones.
SELECT d.session_pk, d.place, d.extractor, d.draft
FROM generation_drafts AS d LEFT JOIN sessions AS s ON s.id = d.session_pk
WHERE d.generation_id = :id AND (:session_pk IS NULL OR d.session_pk = :session_pk)
ORDER BY s.started_at, d.session_pk, d.place
LIMIT :limit

-- name: generations_replaced
-- The facts whose place a generation takes: read by themselves out of its sessions alone, and left alone by people.
SELECT l.*, s.session_id
FROM long_term_memories AS l LEFT JOIN sessions AS s ON s.id = l.source_session
WHERE l.scope_id = :scope_id AND l.status IN ('active', 'candidate') AND l.source_type = 'auto_consolidation'
    AND l.source_session IN (SELECT value FROM json_each(:sessions))
    AND l.pinned = 0 AND l.weight_held = 0 AND l.created_at <= :begun
    AND NOT EXISTS (
        SELECT 1 FROM json_each(l.source_ids) AS j JOIN main_messages AS m ON m.id = j.value
        WHERE m.session_pk NOT IN (SELECT value FROM json_each(:sessions))
    )
    AND NOT EXISTS (
        SELECT 1 FROM memory_history AS h
        WHERE h.memory_id = l.memory_id AND (
            h.change IN ('pinned', 'unpinned', 'weighed', 'weight freed') OR h.change = 'activated' AND h.actor <> 'gate'
        )
    )
ORDER BY l.id
LIMIT :limit

-- name: generations_sessions
-- Which sessions of a user are meant: those that are named, or all.
SELECT id, session_id FROM sessions
WHERE scope_id = :scope_id AND (:named IS NULL OR session_id IN (SELECT value FROM json_each(:named)))
ORDER BY started_at, id
