-- name: jobs_owe
-- A repeat is harmless, also when the job was done long ago.
INSERT INTO jobs (kind, subject, namespace, due_at, created_at, updated_at, payload, state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (kind, subject) DO NOTHING

-- name: jobs_owe_embeddings
-- The consumer's hot path: in one statement for a third of the price of a row each.
INSERT INTO jobs (kind, subject, namespace, due_at, created_at, updated_at)
SELECT :kind, 'message:' || m.id, s.namespace, :now, :now, :now
FROM main_messages AS m CROSS JOIN sessions AS s ON s.id = m.session_pk
WHERE m.id >= :first AND m.has_embedding = 0
ON CONFLICT (kind, subject) DO NOTHING

-- name: jobs_due
-- Enough for a batch, or an old one? The limit keeps it short however many are due.
SELECT count(*), min(created_at) FROM (
    SELECT created_at FROM jobs
    WHERE kind = :kind AND due_at <= :now
        AND (state = 'pending' OR (state = 'running' AND lease_until <= :now))
        AND state IN ('pending', 'running')
    ORDER BY due_at
    LIMIT :limit
)

-- name: jobs_claim
-- State and lease change in one statement, so that two workers never hold the same job.
UPDATE jobs
SET state = 'running', attempts = attempts + 1, lease_until = :until, lease_token = :token, updated_at = :now
WHERE id IN (
    SELECT id FROM jobs
    WHERE kind = :kind AND due_at <= :now
        AND (state = 'pending' OR (state = 'running' AND lease_until <= :now))
        AND state IN ('pending', 'running')
    ORDER BY due_at, id
    LIMIT :limit
)
RETURNING id, subject, namespace, payload, attempts, created_at, due_at, reason

-- name: jobs_claim_heads
-- Of each scope only the oldest: what was said later is worked on when that is done. The partial index's own condition.
UPDATE jobs
SET state = 'running', attempts = attempts + 1, lease_until = :until, lease_token = :token, updated_at = :now
WHERE id IN (
    SELECT j.id FROM jobs AS j
    WHERE j.kind = :kind AND j.due_at <= :now
        AND (j.state = 'pending' OR (j.state = 'running' AND j.lease_until <= :now))
        AND j.state IN ('pending', 'running')
        AND NOT EXISTS (
            SELECT 1 FROM jobs AS e
            WHERE e.payload ->> '$.scope_id' = j.payload ->> '$.scope_id' AND e.id < j.id
                AND e.kind IN ('extract', 'remember', 'forget') AND e.state IN ('pending', 'running')
                AND e.kind IN (SELECT value FROM json_each(:in_order))
        )
    ORDER BY j.due_at, j.id
    LIMIT :limit
)
RETURNING id, subject, namespace, payload, attempts, created_at, due_at, reason

-- name: jobs_renew
-- Heartbeat of a worker while a model answers.
UPDATE jobs SET lease_until = ?, updated_at = ? WHERE id = ? AND lease_token = ? AND state = 'running'

-- name: jobs_finish
-- The token fences a worker whose lease was given to another.
UPDATE jobs SET state = 'done', lease_until = NULL, lease_token = NULL, reason = NULL, updated_at = ?
WHERE id = ? AND lease_token = ? AND state = 'running'

-- name: jobs_retry
-- What can pass comes back later.
UPDATE jobs
SET state = 'pending', due_at = ?, lease_until = NULL, lease_token = NULL, reason = ?, updated_at = ?
WHERE id = ? AND lease_token = ? AND state = 'running'

-- name: jobs_bury
-- What cannot pass is dead, and said so in a dead letter.
UPDATE jobs SET state = 'dead', lease_until = NULL, lease_token = NULL, reason = ?, updated_at = ?
WHERE id = ? AND lease_token = ? AND state = 'running'

-- name: jobs_release
-- An orderly stop is no failure.
UPDATE jobs
SET state = 'pending', attempts = attempts - 1, lease_until = NULL, lease_token = NULL, updated_at = ?
WHERE id = ? AND lease_token = ? AND state = 'running'

-- name: jobs_release_deferred
-- Work that waited for its handler.
UPDATE jobs SET state = 'pending', due_at = :now, updated_at = :now
WHERE id IN (SELECT id FROM jobs WHERE kind = :kind AND state = 'deferred' LIMIT :limit)
RETURNING id

-- name: jobs_revive
-- A human's wish: try again.
UPDATE jobs SET state = 'pending', attempts = 0, due_at = :now, updated_at = :now
WHERE id = :id AND state = 'dead'
RETURNING id

-- name: jobs_from_the_future
-- Asked without a lock first, since it is almost never so.
SELECT 1 FROM jobs
WHERE state IN ('pending', 'running') AND updated_at > :horizon
LIMIT 1

-- name: jobs_heal_clock
-- After the clock was set back, these would wait for the old time to come again. Whoever holds a lease still holds it.
UPDATE jobs
SET due_at = due_at - (updated_at - :now), created_at = created_at - (updated_at - :now),
    lease_until = lease_until - (updated_at - :now), updated_at = :now
WHERE state IN ('pending', 'running') AND updated_at > :horizon
RETURNING id

-- name: jobs_owed
-- The sweep sends a task for each kind that is here.
SELECT kind, count(*) AS count FROM jobs
WHERE state IN ('pending', 'running') AND due_at <= :now AND (state = 'pending' OR lease_until <= :now)
GROUP BY kind

-- name: jobs_oldest_due
-- The one figure that tells a stuck queue from a busy one; kinds that wait for something to be configured are left out.
SELECT min(due_at) FROM jobs
WHERE state IN ('pending', 'running') AND due_at <= :now AND (state = 'pending' OR lease_until <= :now)
  AND kind NOT IN (SELECT value FROM json_each(:without))

-- name: jobs_next_due
-- How long a worker may sleep; a running job is due again when its lease lapses.
SELECT min(CASE state WHEN 'pending' THEN due_at ELSE max(due_at, lease_until) END) FROM jobs
WHERE kind = :kind AND state IN ('pending', 'running')

-- name: jobs_stats
-- Done jobs are left out: there are as many as messages, and nobody waits for them.
SELECT kind, state, count(*) AS count FROM jobs WHERE state IN ('pending', 'running') GROUP BY kind, state
UNION ALL
SELECT kind, state, count(*) AS count FROM jobs WHERE state IN ('dead', 'deferred') GROUP BY kind, state
