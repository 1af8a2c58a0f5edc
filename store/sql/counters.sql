-- name: counters_bump
-- In the transaction of what it counts, so that it never counts what was rolled back.
INSERT INTO counters (name, value) VALUES (:name, :by) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value

-- name: counters_all
-- For health and metrics.
SELECT name, value FROM counters ORDER BY name

-- name: counters_get
-- For whoever goes on from where it stood.
SELECT value FROM counters WHERE name = :name
