-- name: timeline_put
-- A period has one entry. What was made of the old one is out of date, so that it counts as not rolled up.
INSERT INTO timeline (
    scope_id, session_pk, level, period, content, source_ids, starts_at, ends_at, created_at, method, raw_length,
    seq_first, seq_last
) VALUES (
    :scope_id, :session_pk, :level, :period, :content, :source_ids, :starts_at, :ends_at, :now, :method, :raw_length,
    :seq_first, :seq_last
) ON CONFLICT (scope_id, level, period) DO UPDATE SET
    content = excluded.content, source_ids = excluded.source_ids, starts_at = excluded.starts_at,
    ends_at = excluded.ends_at, method = excluded.method, raw_length = excluded.raw_length,
    rolled_into = CASE WHEN content = excluded.content AND ends_at = excluded.ends_at THEN rolled_into END
RETURNING id

-- name: timeline_link
-- From the finer entry to the coarser one; the other way is its source_ids.
UPDATE timeline SET rolled_into = ? WHERE id = ?

-- name: timeline_unrolled
-- What a roll-up has to do; the order lets it go on behind the last one that it saw.
SELECT id, scope_id, ends_at FROM timeline
WHERE level = :level AND rolled_into IS NULL AND ends_at < :before AND (ends_at, id) > (:after_end, :after_id)
ORDER BY ends_at, id
LIMIT :limit

-- name: timeline_between
-- The sources of one roll-up.
SELECT
    t.id, t.level, t.period, t.content, t.starts_at, t.ends_at, t.raw_length, s.session_id, t.seq_first, t.seq_last,
    t.source_ids, t.rolled_into, t.method
FROM timeline AS t LEFT JOIN sessions AS s ON s.id = t.session_pk
WHERE t.scope_id = :scope_id AND t.level = :level AND t.ends_at >= :start AND t.ends_at < :end
ORDER BY t.ends_at, t.id

-- name: timeline_of_period
-- Its content is a source too, where its own sources are gone.
SELECT
    t.id, t.level, t.period, t.content, t.starts_at, t.ends_at, t.raw_length, s.session_id, t.seq_first, t.seq_last,
    t.source_ids, t.rolled_into, t.method
FROM timeline AS t LEFT JOIN sessions AS s ON s.id = t.session_pk
WHERE t.scope_id = :scope_id AND t.level = :level AND t.period = :period

-- name: timeline_newest
-- A user's timeline; a shared session's entries are its owner's.
SELECT
    t.id, t.level, t.period, t.content, t.starts_at, t.ends_at, t.raw_length, s.session_id, t.seq_first, t.seq_last,
    t.source_ids, t.rolled_into, t.method
FROM timeline AS t LEFT JOIN sessions AS s ON s.id = t.session_pk
WHERE t.scope_id = :scope_id AND t.ends_at >= :start AND t.starts_at <= :end
    AND (t.level = :level OR (:level IS NULL AND t.rolled_into IS NULL))
ORDER BY t.ends_at DESC, t.id DESC
LIMIT :limit

-- name: timeline_newest_of_session
-- All of a session's own entries, rolled up or not: no coarser one tells of this session alone.
SELECT
    t.id, t.level, t.period, t.content, t.starts_at, t.ends_at, t.raw_length, s.session_id, t.seq_first, t.seq_last,
    t.source_ids, t.rolled_into, t.method
FROM sessions AS s JOIN timeline AS t ON t.session_pk = s.id
WHERE s.namespace = :namespace AND s.session_id = :session_id AND (t.scope_id = :scope_id OR s.shared)
    AND t.ends_at >= :start AND t.starts_at <= :end AND (:level IS NULL OR t.level = :level)
ORDER BY t.ends_at DESC, t.id DESC
LIMIT :limit

-- name: timeline_last_seq
-- Where the next entry of the session begins.
SELECT max(seq_last) FROM timeline WHERE session_pk = :session_pk

-- name: timeline_untold
-- Turns by their first message: a late answer may have joined one long after its time.
SELECT
    m.scope_id, m.turn, min(m.seq) AS seq_first, max(m.seq), min(m.occurred_at), max(m.occurred_at),
    (SELECT t.content FROM short_term_memories AS t
     WHERE t.session_pk = m.session_pk AND t.turn_first = m.turn AND t.turn_last = m.turn),
    m.turn IS (SELECT s.open_turn FROM sessions AS s WHERE s.id = m.session_pk)
FROM main_messages AS m
WHERE m.session_pk = :session_pk AND m.turn IN (
    SELECT DISTINCT turn FROM main_messages WHERE session_pk = :session_pk AND seq > :after AND seq <= :up_to
)
GROUP BY m.turn
HAVING min(m.seq) > :after
ORDER BY seq_first
