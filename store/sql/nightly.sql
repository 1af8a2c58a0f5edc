-- name: nightly_begin
-- The row is what makes a night run once, whoever comes first.
INSERT INTO nightly_runs (night, moment, due, started_at) VALUES (:night, :moment, :due, :now)
ON CONFLICT (night) DO NOTHING

-- name: nightly_run
-- One night.
SELECT night, moment, state, due, started_at, finished_at, retry_at FROM nightly_runs WHERE night = :night

-- name: nightly_latest
-- By its moment: nights of another zone sort otherwise.
SELECT night, moment, state, due, started_at, finished_at, retry_at FROM nightly_runs ORDER BY moment DESC LIMIT 1

-- name: nightly_days
-- Newest first.
SELECT night FROM nightly_runs ORDER BY moment DESC LIMIT :limit

-- name: nightly_step
-- Where a step stands.
SELECT cursor FROM nightly_steps WHERE night = :night AND step = :step

-- name: nightly_steps
-- The night's report.
SELECT step, state, seen, kept, archived, deleted, seconds, reason FROM nightly_steps
WHERE night = :night
ORDER BY id

-- name: nightly_save
-- In the transaction of the slice that it counts.
INSERT INTO nightly_steps (night, step, state, cursor, seen, kept, archived, deleted, seconds)
VALUES (:night, :step, :state, :cursor, :seen, :kept, :archived, :deleted, :seconds)
ON CONFLICT (night, step) DO UPDATE SET
    state = excluded.state, cursor = excluded.cursor, seen = seen + excluded.seen, kept = kept + excluded.kept,
    archived = archived + excluded.archived, deleted = deleted + excluded.deleted,
    seconds = seconds + excluded.seconds, reason = NULL

-- name: nightly_fail
-- Its cursor stays, so that it goes on from there.
INSERT INTO nightly_steps (night, step, state, reason) VALUES (:night, :step, 'failed', :reason)
ON CONFLICT (night, step) DO UPDATE SET state = 'failed', reason = excluded.reason

-- name: nightly_settle
-- Done, or to be tried again where a step failed.
UPDATE nightly_runs SET
    state = CASE WHEN failed.count = 0 THEN 'done' ELSE 'running' END,
    finished_at = CASE WHEN failed.count = 0 THEN :now END,
    retry_at = CASE WHEN failed.count = 0 THEN NULL ELSE :retry_at END
FROM (SELECT count(*) AS count FROM nightly_steps WHERE night = :night AND state = 'failed') AS failed
WHERE night = :night

-- name: nightly_born
-- A database that is younger than the night has nothing for it.
SELECT min(applied_at) FROM schema_migrations

-- name: nightly_weak_candidates
-- Neither confirmed nor refused; nothing under a legal hold.
SELECT l.id FROM long_term_memories AS l JOIN scopes AS c ON c.id = l.scope_id
WHERE l.id > :after AND l.status = 'candidate' AND l.updated_at < :before
    AND NOT EXISTS (
        SELECT 1 FROM legal_holds AS h WHERE h.namespace = c.namespace AND h.user_id IN ('', c.user_id)
    )
ORDER BY l.id
LIMIT :limit

-- name: nightly_expired_facts
-- They are not recalled any more from that moment on; the upkeep takes them out.
SELECT count(*) FROM long_term_memories WHERE status = 'active' AND expires_at <= :moment
