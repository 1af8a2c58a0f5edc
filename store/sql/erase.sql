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
WHERE scope_id = :scope_id
ORDER BY id
LIMIT :limit

-- name: erase_messages_as_guest
-- What the person said in sessions that others share.
SELECT m.id, m.event_id, m.session_pk, m.turn, m.content, m.metadata FROM main_messages AS m
JOIN sessions AS s ON s.id = m.session_pk
WHERE s.namespace = :namespace AND s.shared AND m.metadata ->> '$.user_id' = :user_id
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

-- name: erase_texts
-- Summaries, facts and so on, by their table; their texts are in the cache too.
SELECT id, content FROM {table} WHERE scope_id = :scope_id ORDER BY id

-- name: erase_former_texts
-- What facts said before they were changed.
SELECT h.before ->> '$.content' FROM memory_history AS h
WHERE h.memory_id IN (SELECT memory_id FROM long_term_memories WHERE id IN (SELECT value FROM json_each(:ids)))
    AND json_valid(h.before) AND h.before ->> '$.content' IS NOT NULL

-- name: erase_drafts
-- Of generations that nobody has switched to.
SELECT d.draft ->> '$.content' FROM generation_drafts AS d JOIN fact_generations AS g ON g.id = d.generation_id
WHERE g.scope_id = :scope_id AND d.draft ->> '$.content' IS NOT NULL

-- name: erase_run_events
-- What was said inside the person's runs.
SELECT m.event_id, m.content FROM subagent_messages AS m JOIN subagent_runs AS u ON u.id = m.run_pk
WHERE u.scope_id = :scope_id

-- name: erase_guest_summaries
-- Made of turns in which the person spoke.
SELECT DISTINCT t.id, t.content FROM short_term_memories AS t JOIN json_each(:turns) AS j
    ON t.session_pk = j.value ->> 0 AND j.value ->> 1 BETWEEN t.turn_first AND t.turn_last

-- name: erase_guest_facts
-- Made of messages of the person's, in whosever memory.
SELECT l.id, l.content FROM long_term_memories AS l
WHERE EXISTS (SELECT 1 FROM json_each(l.source_ids) AS s JOIN json_each(:ids) AS j ON s.value = j.value)

-- name: erase_guest_checkpoints
-- A checkpoint speaks of the whole session.
DELETE FROM session_checkpoints WHERE session_pk IN (SELECT value ->> 0 FROM json_each(:turns)) RETURNING id

-- name: erase_guest_timeline
-- And so do its entries of the timeline, and what these were rolled into.
DELETE FROM timeline WHERE id IN (
    WITH RECURSIVE made (id, rolled_into) AS (
        SELECT id, rolled_into FROM timeline
        WHERE session_pk IN (SELECT value ->> 0 FROM json_each(:turns)) OR id IN (SELECT value FROM json_each(:entries))
        UNION
        SELECT t.id, t.rolled_into FROM timeline AS t JOIN made ON t.id = made.rolled_into
    )
    SELECT id FROM made
) RETURNING id

-- name: erase_guest_drafts
-- Drafts that wait for a person to look at them, in whosever memory.
DELETE FROM generation_drafts WHERE EXISTS (
    SELECT 1 FROM json_each(draft, '$.source_ids') AS s JOIN json_each(:ids) AS j ON s.value = j.value
) RETURNING 1

-- name: erase_guest_jobs
-- A worker may hold the words already: without its lease it cannot write what it makes of them.
UPDATE jobs SET state = 'pending', lease_token = NULL, lease_until = NULL, due_at = :now, updated_at = :now
WHERE state = 'running' AND payload ->> '$.session_pk' IN (SELECT value ->> 0 FROM json_each(:turns))

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

-- name: erase_held_hosts
-- A legal hold on the owner of a session is on what their guests said there.
SELECT h.reason FROM legal_holds AS h
JOIN scopes AS c ON c.namespace = h.namespace AND h.user_id IN ('', c.user_id)
JOIN sessions AS s ON s.scope_id = c.id AND s.shared
JOIN main_messages AS m ON m.session_pk = s.id
WHERE h.namespace = :namespace AND m.metadata ->> '$.user_id' = :user_id
LIMIT 1

-- name: erase_everybody
-- Whom a backup from before an erasure holds, guests of others' sessions too.
SELECT namespace, user_id FROM scopes
UNION SELECT s.namespace, m.metadata ->> '$.user_id' FROM sessions AS s JOIN main_messages AS m ON m.session_pk = s.id
WHERE s.shared AND m.metadata ->> '$.user_id' IS NOT NULL
ORDER BY namespace, user_id
