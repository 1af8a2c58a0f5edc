-- name: tombstones_all
-- Few; asked once a transaction of the consumer.
SELECT digest, at FROM tombstones

-- name: tombstones_put
-- A second erasure moves the moment on, never back.
INSERT INTO tombstones (digest, at) VALUES (?, ?) ON CONFLICT (digest) DO UPDATE SET at = max(at, excluded.at)

-- name: erase_sessions
-- All that the person owns.
SELECT id, session_id FROM sessions WHERE scope_id = :scope_id

-- name: erase_messages
-- A slice of the person's own.
SELECT id, event_id, session_pk, turn, content, metadata FROM main_messages
WHERE scope_id = :scope_id AND :namespace IS NOT NULL AND :user_id IS NOT NULL
ORDER BY id
LIMIT :limit

-- name: erase_messages_as_guest
-- What the person said in sessions that others share.
SELECT m.id, m.event_id, m.session_pk, m.turn, m.content, m.metadata FROM main_messages AS m
JOIN sessions AS s ON s.id = m.session_pk
WHERE s.namespace = :namespace AND s.shared AND m.metadata ->> '$.user_id' = :user_id AND :scope_id IS NOT NULL
ORDER BY m.id
LIMIT :limit

-- name: erase_events
-- A repeat of an erased event is kept away by the tombstone.
DELETE FROM events WHERE namespace = ? AND event_id = ?

-- name: erase_cached
-- The cache holds a text's digest and its vector.
DELETE FROM embedding_cache WHERE digest = ?

-- name: erase_job
-- What is owed for a row that is gone.
DELETE FROM jobs WHERE kind = 'embed' AND subject = ?

-- name: erase_ids
-- Summaries, facts and so on, by their table.
SELECT id FROM {table} WHERE scope_id = :scope_id ORDER BY id

-- name: erase_texts
-- Their texts are in the cache too.
SELECT content FROM {table} WHERE scope_id = :scope_id

-- name: erase_run_events
-- What was said inside the person's runs.
SELECT m.event_id, m.content FROM subagent_messages AS m JOIN subagent_runs AS u ON u.id = m.run_pk
WHERE u.scope_id = :scope_id

-- name: erase_guest_summaries
-- Made of turns in which the person spoke.
SELECT t.id FROM short_term_memories AS t JOIN json_each(:turns) AS j
    ON t.session_pk = j.value ->> 0 AND j.value ->> 1 BETWEEN t.turn_first AND t.turn_last

-- name: erase_guest_facts
-- Made of messages of the person's, in whosever memory.
SELECT l.id FROM long_term_memories AS l
WHERE EXISTS (SELECT 1 FROM json_each(l.source_ids) AS s JOIN json_each(:ids) AS j ON s.value = j.value)

-- name: erase_guest_checkpoints
-- A checkpoint speaks of the whole session.
DELETE FROM session_checkpoints WHERE session_pk IN (SELECT value ->> 0 FROM json_each(:turns)) RETURNING id

-- name: erase_guest_timeline
-- And so do its entries of the timeline, and what these were rolled into.
DELETE FROM timeline WHERE id IN (
    WITH RECURSIVE made (id, rolled_into) AS (
        SELECT id, rolled_into FROM timeline WHERE session_pk IN (SELECT value ->> 0 FROM json_each(:turns))
        UNION
        SELECT t.id, t.rolled_into FROM timeline AS t JOIN made ON t.id = made.rolled_into
    )
    SELECT id FROM made
) RETURNING id

-- name: erase_jobs
-- Jobs carry ids, and of `memory.*` events their words.
DELETE FROM jobs
WHERE namespace = :namespace AND (
    payload ->> '$.scope_id' = :scope_id
    OR payload ->> '$.session_pk' IN (SELECT value FROM json_each(:session_pks))
    OR payload ->> '$.session_id' IN (SELECT value FROM json_each(:session_ids))
    OR payload ->> '$.user_id' = :user_id
) RETURNING id, subject

-- name: erase_dead_letters
-- An event that names no user is of its session's owner.
DELETE FROM dead_letters
WHERE namespace = :namespace AND json_valid(body) AND CASE source
    WHEN 'event' THEN
        body ->> '$.user_id' = :user_id
        OR (body ->> '$.user_id' IS NULL AND body ->> '$.session_id' IN (SELECT value FROM json_each(:session_ids)))
    ELSE
        ref IN (SELECT value FROM json_each(:jobs))
        OR body ->> '$.payload.session_pk' IN (SELECT value FROM json_each(:session_pks))
        OR body ->> '$.payload.scope_id' = :scope_id
        OR body ->> '$.payload.user_id' = :user_id
END RETURNING id

-- name: erase_audit
-- That something was done stays; to whom does not.
UPDATE audit_log SET detail = '{}' WHERE namespace = :namespace AND instr(detail, json_quote(:user_id)) RETURNING id

-- name: erase_tables
-- Every table with that column, those of later migrations too. Virtual tables and their parts are emptied by their keys.
SELECT s.name FROM sqlite_schema AS s JOIN pragma_table_info(s.name) AS p
WHERE s.type = 'table' AND p.name = :column AND s.name NOT LIKE 'vec\_%' ESCAPE '\'
    AND s.name NOT LIKE 'sqlite\_%' ESCAPE '\'
ORDER BY s.name = 'sessions', s.name

-- name: erase_by_scope
-- What no other statement knew of.
DELETE FROM {table} WHERE scope_id = :scope_id RETURNING 1

-- name: erase_by_session
-- The same, of the person's sessions.
DELETE FROM {table} WHERE session_pk IN (SELECT value FROM json_each(:session_pks)) RETURNING 1

-- name: erase_scope
-- Last: everything else refers to it.
DELETE FROM scopes WHERE id = :scope_id

-- name: audit_note
-- Who did what, without its content.
INSERT INTO audit_log (actor, action, namespace, detail, at) VALUES (:actor, :action, :namespace, :detail, :now)

-- name: fulltext_optimise
-- Deleted terms stand in the index until it is written anew.
INSERT INTO memory_fts (memory_fts) VALUES ('optimize')

-- name: erase_others_hold
-- The same words may be somebody else's too, and then stay.
SELECT 1 FROM main_messages WHERE instr(content, :text)
UNION ALL SELECT 1 FROM long_term_memories WHERE instr(content, :text)
UNION ALL SELECT 1 FROM short_term_memories WHERE instr(content, :text)
LIMIT 1
