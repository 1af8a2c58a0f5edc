-- name: health_lag
-- Kinds are found by skipping through the index; in each the count is bounded.
WITH RECURSIVE kinds (kind) AS (
    SELECT min(kind) FROM jobs WHERE state IN ('pending', 'running')
    UNION ALL
    SELECT (SELECT min(j.kind) FROM jobs AS j WHERE j.state IN ('pending', 'running') AND j.kind > kinds.kind)
    FROM kinds WHERE kinds.kind IS NOT NULL
)
SELECT k.kind, count(*) AS owed, min(o.created_at) AS oldest
FROM kinds AS k
CROSS JOIN jobs AS o
WHERE k.kind IS NOT NULL AND o.id IN (
    SELECT j.id FROM jobs AS j
    WHERE j.kind = k.kind AND j.state IN ('pending', 'running') AND (:namespace IS NULL OR j.namespace = :namespace)
    ORDER BY j.due_at
    LIMIT :counted
)
GROUP BY k.kind
