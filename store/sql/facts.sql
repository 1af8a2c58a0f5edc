-- name: facts_insert
-- A candidate until the gate has run. The id is made of what it stands on, so that a repeat is known.
INSERT INTO long_term_memories (
    memory_id, scope_id, key, content, memory_type, cognitive_kind, tags, importance, confidence, weight, source_type,
    source_session, source_ids, valid_from, expires_at, owner_agent, data_source, created_at, updated_at, subject,
    attribute, topic, value, polarity, said_by, trust, extractor, source_text, status_reason
) VALUES (
    :memory_id, :scope_id, :key, :content, :memory_type, :cognitive_kind, :tags, :importance, :confidence, :weight,
    :source_type, :source_session, :source_ids, :valid_from, :expires_at, :owner_agent, :data_source, :now, :now,
    :subject, :attribute, :topic, :value, :polarity, :said_by, :trust, :extractor, :source_text, :status_reason
) ON CONFLICT (memory_id) DO NOTHING RETURNING id

-- name: facts_row
-- By its number, for the workers.
SELECT l.*, s.session_id FROM long_term_memories AS l LEFT JOIN sessions AS s ON s.id = l.source_session
WHERE l.id = :id

-- name: facts_get
-- One fact of a scope, whatever its status.
SELECT l.*, s.session_id FROM long_term_memories AS l LEFT JOIN sessions AS s ON s.id = l.source_session
WHERE l.memory_id = :memory_id AND l.scope_id = :scope_id

-- name: facts_active_with_key
-- An explicit upsert replaces it.
SELECT l.*, s.session_id FROM long_term_memories AS l LEFT JOIN sessions AS s ON s.id = l.source_session
WHERE l.scope_id = :scope_id AND l.key = :key AND l.status = 'active'

-- name: facts_all_with_key
-- A forgotten key is forgotten with its past.
SELECT l.*, NULL AS session_id FROM long_term_memories AS l WHERE l.scope_id = :scope_id AND l.key = :key ORDER BY l.id

-- name: facts_newest
-- What a correction that names the old value may be about. The index of scope and status has the ids in order.
SELECT l.*, NULL AS session_id FROM long_term_memories AS l
WHERE l.scope_id = :scope_id AND l.status = 'active'
ORDER BY l.id DESC
LIMIT :limit

-- name: facts_by_ids
-- What a search found; scope, status and expiry are asked again.
SELECT l.*, s.session_id
FROM json_each(:ids) AS j
CROSS JOIN long_term_memories AS l ON l.id = j.value
LEFT JOIN sessions AS s ON s.id = l.source_session
WHERE l.scope_id = :scope_id AND l.status = 'active' AND (l.expires_at IS NULL OR l.expires_at > :now)
    AND (:session_id IS NULL OR s.session_id = :session_id)
ORDER BY j.key

-- name: facts_list
-- What a user sees as their facts, the newest first.
SELECT l.*, s.session_id FROM long_term_memories AS l LEFT JOIN sessions AS s ON s.id = l.source_session
WHERE l.scope_id = :scope_id AND (:status IS NULL OR l.status = :status)
    AND (:session_id IS NULL OR s.session_id = :session_id)
ORDER BY l.valid_from DESC, l.id DESC
LIMIT :limit

-- name: facts_of_attribute
-- The gate's neighbours where a statement has no topic of its own, such as what happened.
SELECT l.*, NULL AS session_id FROM long_term_memories AS l INDEXED BY long_term_memories_by_attribute
WHERE l.scope_id = :scope_id AND l.subject = :subject AND l.attribute = :attribute AND l.status = 'active'
ORDER BY l.id DESC
LIMIT :limit

-- name: facts_of_topic
-- The gate's neighbours: anything about the same thing. Left to itself, SQLite walks all of a scope in the order of ids.
SELECT l.*, NULL AS session_id FROM long_term_memories AS l INDEXED BY long_term_memories_by_topic
WHERE l.scope_id = :scope_id AND l.topic = :topic AND l.topic <> '' AND l.status = 'active'
ORDER BY l.id DESC
LIMIT :limit

-- name: facts_of_values
-- The gate's neighbours: what a new fact says to be over, whatever its attribute; one term of each value finds it.
SELECT l.*, NULL AS session_id FROM long_term_memories AS l
WHERE l.status = 'active' AND l.scope_id = :scope_id AND l.subject = :subject AND l.id IN (
    SELECT m.id FROM json_each(:values) AS j CROSS JOIN long_term_memories AS m
        ON m.scope_id = :scope_id AND m.topic = j.value AND m.topic <> '' AND m.status = 'active'
    UNION ALL
    SELECT m.id FROM json_each(:values) AS j CROSS JOIN long_term_memories AS m
        ON m.scope_id = :scope_id AND m.subject = :subject AND m.attribute = j.value AND m.status = 'active'
    UNION ALL
    SELECT m.id FROM long_term_memories AS m
    WHERE m.scope_id = :scope_id AND m.subject = :subject AND m.status = 'active'
        AND (
            m.attribute IN ('home', 'dwelling', 'job', 'employer', 'work on', 'decide', 'have', 'prefer')
            OR m.attribute >= 'use' AND m.attribute < 'usf' OR m.attribute >= 'do ' AND m.attribute < 'do!'
            OR m.attribute >= 'plan' AND m.attribute < 'plao' OR m.attribute >= 'my ' AND m.attribute < 'my!'
        )
        AND EXISTS (SELECT 1 FROM json_each(:terms) AS t WHERE instr(m.value, t.value))
)
ORDER BY l.id DESC
LIMIT :limit

-- name: facts_last_of_session
-- What a correction without a subject of its own ("actually, it is ten") is about.
SELECT l.*, NULL AS session_id FROM long_term_memories AS l
WHERE l.scope_id = :scope_id AND l.source_session = :session_pk AND l.status = 'active'
ORDER BY l.id DESC
LIMIT :limit

-- name: facts_activate
-- The gate has let it pass.
UPDATE long_term_memories
SET status = 'active', status_reason = NULL, valid_to = NULL, superseded_by = NULL, version = version + 1,
    updated_at = :now, has_embedding = 0
WHERE id = :id

-- name: facts_strengthen
-- The same was said again: its sources are joined, and it is believed a little more. Its weight fades from now on anew.
UPDATE long_term_memories
SET source_ids = :source_ids, confidence = :confidence, version = version + 1, updated_at = :now, weighed_at = :now,
    weight = CASE WHEN weight_held THEN weight ELSE :weight END, expires_at = :expires_at,
    source_type = CASE WHEN :kept THEN 'explicit_tool' ELSE source_type END
WHERE id = :id

-- name: facts_close
-- Not overwritten: what changed ends where the new one begins.
UPDATE long_term_memories
SET status = 'superseded', valid_to = :valid_to, superseded_by = :superseded_by, version = version + 1,
    updated_at = :now, has_embedding = 0
WHERE id = :id

-- name: facts_set_status
-- Archived, deleted softly, or held back, with the reason.
UPDATE long_term_memories
SET status = :status, status_reason = :reason, version = version + 1, updated_at = :now, has_embedding = 0
WHERE id = :id

-- name: facts_link
-- Doubt: both stay, and each says so.
UPDATE long_term_memories SET conflicts_with = :conflicts_with, version = version + 1, updated_at = :now WHERE id = :id

-- name: facts_destroy
-- A hard delete.
DELETE FROM long_term_memories WHERE id = :id

-- name: facts_destroy_history
-- Together with its fact: the history holds its words.
DELETE FROM memory_history WHERE memory_id = :memory_id

-- name: facts_destroy_requests
-- A finished request stays for a while so that a repeat is known; its subject is enough for that.
UPDATE jobs SET payload = json_remove(payload, '$.content', '$.tags', '$.key')
WHERE kind = 'remember' AND state = 'done' AND payload ->> '$.scope_id' = :scope_id AND payload ->> '$.content' = :content

-- name: facts_destroy_drafts
-- A generation that is switched to later would bring it back.
DELETE FROM generation_drafts
WHERE generation_id IN (SELECT id FROM fact_generations WHERE scope_id = :scope_id) AND draft ->> '$.content' = :content

-- name: facts_contents
-- Texts to embed; one that is not active any more needs no vector.
SELECT id, scope_id, source_session AS session_pk, content FROM long_term_memories
WHERE id IN (SELECT value FROM json_each(:ids)) AND status = 'active'

-- name: facts_mark_embedded
-- Together with the vectors.
UPDATE long_term_memories SET has_embedding = 1 WHERE id = ?

-- name: facts_count
-- By status, for one scope.
SELECT status, count(*) FROM long_term_memories WHERE scope_id = :scope_id GROUP BY status

-- name: facts_note
-- Every change leaves a line.
INSERT INTO memory_history (memory_id, scope_id, version, change, before, actor, reason, at)
VALUES (:memory_id, :scope_id, :version, :change, :before, :actor, :reason, :now)

-- name: facts_history
-- All that ever happened to a fact, oldest first.
SELECT memory_id, version, change, before, actor, reason, at FROM memory_history
WHERE memory_id = :memory_id AND scope_id = :scope_id
ORDER BY id
