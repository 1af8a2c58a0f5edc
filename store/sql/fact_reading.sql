-- name: fact_reading_one
-- One fact of a scope, whatever its status, with all that decides how long it lives.
SELECT l.*, coalesce(l.weighed_at, l.created_at) AS weighed, s.session_id
FROM long_term_memories AS l LEFT JOIN sessions AS s ON s.id = l.source_session
WHERE l.memory_id = :memory_id AND l.scope_id = :scope_id

-- name: fact_reading_by_ids
-- What a search found; scope, status, expiry and the filter are asked again.
SELECT l.*, coalesce(l.weighed_at, l.created_at) AS weighed, s.session_id
FROM json_each(:ids) AS j
CROSS JOIN long_term_memories AS l ON l.id = j.value
LEFT JOIN sessions AS s ON s.id = l.source_session
WHERE l.scope_id = :scope_id AND l.status = 'active' AND (l.expires_at IS NULL OR l.expires_at > :now)
    AND (:session_id IS NULL OR s.session_id = :session_id)
    AND (:types IS NULL OR l.memory_type IN (SELECT value FROM json_each(:types)))
    AND NOT EXISTS (
        SELECT 1 FROM json_each(:tags) AS t WHERE t.value NOT IN (SELECT value FROM json_each(l.tags))
    )
    AND l.confidence >= :min_confidence
    AND (:data_source IS NULL OR l.data_source IS NULL OR l.data_source = :data_source)
ORDER BY j.key

-- name: fact_reading_page
-- What stands now, by status.
SELECT l.*, coalesce(l.weighed_at, l.created_at) AS weighed, s.session_id, count(*) OVER () AS total
FROM long_term_memories AS l LEFT JOIN sessions AS s ON s.id = l.source_session
WHERE l.scope_id = :scope_id AND l.status IN (SELECT value FROM json_each(:statuses))
    AND (:session_id IS NULL OR s.session_id = :session_id)
    AND (:types IS NULL OR l.memory_type IN (SELECT value FROM json_each(:types)))
    AND NOT EXISTS (
        SELECT 1 FROM json_each(:tags) AS t WHERE t.value NOT IN (SELECT value FROM json_each(l.tags))
    )
    AND l.confidence >= :min_confidence
    AND (:data_source IS NULL OR l.data_source IS NULL OR l.data_source = :data_source)
ORDER BY l.pinned DESC, l.weight DESC, l.id DESC
LIMIT :limit OFFSET :offset

-- name: fact_reading_page_as_of
-- What was held at a moment: in force by its own times, passed by the gate, and not forgotten until later.
SELECT l.*, coalesce(l.weighed_at, l.created_at) AS weighed, s.session_id, count(*) OVER () AS total
FROM long_term_memories AS l LEFT JOIN sessions AS s ON s.id = l.source_session
WHERE l.scope_id = :scope_id AND l.status <> 'candidate'
    AND l.valid_from <= :as_of AND (l.valid_to IS NULL OR l.valid_to > :as_of)
    AND (l.expires_at IS NULL OR l.expires_at > :as_of)
    AND (
        l.status IN ('active', 'superseded')
        OR EXISTS (SELECT 1 FROM memory_history AS h WHERE h.memory_id = l.memory_id AND h.change = 'activated')
        AND (SELECT max(h.at) FROM memory_history AS h WHERE h.memory_id = l.memory_id AND h.change = l.status) > :as_of
    )
    AND (:session_id IS NULL OR s.session_id = :session_id)
    AND (:types IS NULL OR l.memory_type IN (SELECT value FROM json_each(:types)))
    AND NOT EXISTS (
        SELECT 1 FROM json_each(:tags) AS t WHERE t.value NOT IN (SELECT value FROM json_each(l.tags))
    )
    AND l.confidence >= :min_confidence
    AND (:data_source IS NULL OR l.data_source IS NULL OR l.data_source = :data_source)
ORDER BY l.pinned DESC, l.weight DESC, l.id DESC
LIMIT :limit OFFSET :offset

-- name: fact_reading_core
-- Pinned ones first, then the heaviest; a weight that has faded meanwhile is looked at again in Python.
SELECT * FROM (
    SELECT l.*, coalesce(l.weighed_at, l.created_at) AS weighed, s.session_id
    FROM long_term_memories AS l LEFT JOIN sessions AS s ON s.id = l.source_session
    WHERE l.scope_id = :scope_id AND l.status = 'active' AND l.pinned = 1
        AND (l.expires_at IS NULL OR l.expires_at > :now)
        AND (:data_source IS NULL OR l.data_source IS NULL OR l.data_source = :data_source)
    ORDER BY l.weight DESC
    LIMIT :limit
)
UNION ALL
SELECT * FROM (
    SELECT l.*, coalesce(l.weighed_at, l.created_at) AS weighed, s.session_id
    FROM long_term_memories AS l LEFT JOIN sessions AS s ON s.id = l.source_session
    WHERE l.scope_id = :scope_id AND l.status = 'active' AND l.pinned = 0 AND l.weight >= :core_from
        AND (l.expires_at IS NULL OR l.expires_at > :now)
        AND (:data_source IS NULL OR l.data_source IS NULL OR l.data_source = :data_source)
    ORDER BY l.weight DESC
    LIMIT :limit
)

-- name: fact_reading_superseded
-- What a fact took the place of.
SELECT l.*, coalesce(l.weighed_at, l.created_at) AS weighed, s.session_id
FROM long_term_memories AS l LEFT JOIN sessions AS s ON s.id = l.source_session
WHERE l.superseded_by = :memory_id AND l.scope_id = :scope_id
ORDER BY l.id

-- name: fact_reading_use
-- Of the answers that are still logged: how many were given the fact, how many used it, and the last that did.
SELECT count(*) AS given, coalesce(sum(used), 0) AS used, max(CASE WHEN used THEN at END) AS last_used
FROM memory_usage_log WHERE memory_id = :memory_id AND scope_id = :scope_id
