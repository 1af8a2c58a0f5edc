-- name: dead_letters_bury
-- A redelivered poison event, or a revived job that died again, is the same letter.
INSERT INTO dead_letters (source, ref, namespace, event_id, reason, body, created_at, updated_at)
VALUES (:source, :ref, :namespace, :event_id, :reason, :body, :now, :now)
ON CONFLICT (source, ref) DO UPDATE
SET reason = excluded.reason, body = excluded.body, status = 'dead', updated_at = excluded.updated_at
RETURNING id

-- name: dead_letters_list
-- For API and command line, newest first, page by page.
SELECT id, source, ref, namespace, event_id, reason, body, status, created_at, updated_at FROM dead_letters
WHERE (:status IS NULL OR status = :status)
    AND (:source IS NULL OR source = :source)
    AND (:namespace IS NULL OR namespace = :namespace)
    AND (:before_id IS NULL OR id < :before_id)
ORDER BY id DESC
LIMIT :limit

-- name: dead_letters_get
-- One, to show or to replay.
SELECT id, source, ref, namespace, event_id, reason, body, status, created_at, updated_at FROM dead_letters
WHERE id = :id

-- name: dead_letters_of_event
-- The state of an event that never became a row of its own.
SELECT reason, CASE WHEN json_valid(body) THEN body ->> '$.type' END AS type FROM dead_letters
WHERE namespace = :namespace AND event_id = :event_id AND status = 'dead'
ORDER BY id DESC
LIMIT 1

-- name: dead_letters_mark
-- Replayed or discarded letters stay, for the record.
UPDATE dead_letters SET status = :status, updated_at = :now WHERE id = :id RETURNING id

-- name: dead_letters_mark_job
-- Reviving a job resolves its letter.
UPDATE dead_letters SET status = :status, updated_at = :now WHERE source = 'job' AND ref = :ref

-- name: dead_letters_count
-- Shown in health; the partial index makes it cheap.
SELECT count(*) FROM dead_letters WHERE status = 'dead'

-- name: dead_letters_newest
-- Ids only grow.
SELECT coalesce(max(id), 0) FROM dead_letters

-- name: dead_letters_since
-- What died while an import ran.
SELECT count(*) FROM dead_letters WHERE status = 'dead' AND id > :id
