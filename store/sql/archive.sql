-- name: archive_owners_message
-- An item names its owner in words: ids mean nothing in another database.
SELECT m.id, c.namespace, c.user_id, s.session_id FROM json_each(:ids) AS j
CROSS JOIN main_messages AS m ON m.id = j.value
JOIN scopes AS c ON c.id = m.scope_id JOIN sessions AS s ON s.id = m.session_pk

-- name: archive_owners_summary
-- The same for summaries.
SELECT t.id, c.namespace, c.user_id, s.session_id FROM json_each(:ids) AS j
CROSS JOIN short_term_memories AS t ON t.id = j.value
JOIN scopes AS c ON c.id = t.scope_id JOIN sessions AS s ON s.id = t.session_pk

-- name: archive_owners_run
-- The same for runs.
SELECT u.id, c.namespace, c.user_id, s.session_id FROM json_each(:ids) AS j
CROSS JOIN subagent_runs AS u ON u.id = j.value
JOIN scopes AS c ON c.id = u.scope_id JOIN sessions AS s ON s.id = u.session_pk

-- name: archive_owners_timeline
-- Roll-ups belong to no session.
SELECT t.id, c.namespace, c.user_id, s.session_id FROM json_each(:ids) AS j
CROSS JOIN timeline AS t ON t.id = j.value
JOIN scopes AS c ON c.id = t.scope_id LEFT JOIN sessions AS s ON s.id = t.session_pk

-- name: archive_owners_fact
-- The session is the one that the fact came from.
SELECT l.id, c.namespace, c.user_id, s.session_id FROM json_each(:ids) AS j
CROSS JOIN long_term_memories AS l ON l.id = j.value
JOIN scopes AS c ON c.id = l.scope_id LEFT JOIN sessions AS s ON s.id = l.source_session

-- name: archive_owners_dead_letter
-- As far as its body says; a job's letter names no user.
SELECT
    d.id, d.namespace,
    CASE WHEN d.source = 'event' THEN coalesce(d.body ->> '$.user_id', 'default') END AS user_id,
    CASE WHEN d.source = 'event' THEN d.body ->> '$.session_id' END AS session_id
FROM json_each(:ids) AS j CROSS JOIN dead_letters AS d ON d.id = j.value

-- name: archive_record
-- In the transaction that deletes the rows. The same rows, restored and archived again, make the same file.
INSERT INTO archives (namespace, kind, location, checksum, row_count, byte_count, starts_at, ends_at, created_at)
VALUES (:namespace, :kind, :location, :checksum, :row_count, :byte_count, :starts_at, :ends_at, :now)
ON CONFLICT (location) DO UPDATE SET created_at = excluded.created_at

-- name: archive_list
-- Oldest first; a file is listed where its time overlaps with the one asked for.
SELECT id, namespace, kind, location, checksum, row_count, byte_count, starts_at, ends_at, created_at FROM archives
WHERE (:namespace IS NULL OR namespace = :namespace) AND (:kind IS NULL OR kind = :kind)
    AND (:since IS NULL OR ends_at >= :since) AND (:until IS NULL OR starts_at <= :until)
ORDER BY id

-- name: archive_replace
-- A file that was written anew without some of its items.
UPDATE archives
SET location = :location, checksum = :checksum, row_count = :row_count, byte_count = :byte_count
WHERE id = :id

-- name: archive_forget
-- A file of which nothing is left.
DELETE FROM archives WHERE id = :id

-- name: archive_locations
-- What else lies in the folder was left by a writer that was killed.
SELECT location FROM archives

-- name: archive_totals
-- The cold tier.
SELECT count(*) AS files, coalesce(sum(row_count), 0) AS items, coalesce(sum(byte_count), 0) AS bytes FROM archives

-- name: archive_uncount_messages
-- Searches estimate a scope's size by its sessions' counts.
UPDATE sessions SET message_count = max(0, message_count - gone.count)
FROM (
    SELECT m.session_pk, count(*) AS count FROM json_each(:ids) AS j CROSS JOIN main_messages AS m ON m.id = j.value
    GROUP BY m.session_pk
) AS gone
WHERE sessions.id = gone.session_pk

-- name: archive_count_message
-- One came back.
UPDATE sessions SET message_count = message_count + 1 WHERE id = :id

-- name: archive_delete_history
-- A fact's history goes with it into the archive.
DELETE FROM memory_history WHERE memory_id IN (
    SELECT l.memory_id FROM json_each(:ids) AS j CROSS JOIN long_term_memories AS l ON l.id = j.value
)

-- name: archive_mark_restored
-- So that the next night does not take it away again.
INSERT INTO restored_items (kind, row_id, until) VALUES (:kind, :row_id, :until)
ON CONFLICT (kind, row_id) DO UPDATE SET until = max(until, excluded.until)

-- name: archive_unmark_restored
-- Back in the archive.
DELETE FROM restored_items WHERE kind = ? AND row_id = ?

-- name: archive_owe_embedding
-- The job of the row's first life may stand there as done.
INSERT INTO jobs (kind, subject, namespace, due_at, created_at, updated_at)
VALUES ('embed', :subject, :namespace, :now, :now, :now)
ON CONFLICT (kind, subject) DO UPDATE SET state = 'pending', due_at = :now, updated_at = :now, attempts = 0
WHERE state = 'done'

-- name: archive_not_embedded
-- Its vector was deleted with it.
UPDATE {table} SET has_embedding = 0 WHERE id = :id AND has_embedding = 1 RETURNING id
