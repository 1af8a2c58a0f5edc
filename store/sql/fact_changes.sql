-- name: fact_changes_pin
-- A pinned fact is core for as long as it is pinned.
UPDATE long_term_memories SET pinned = :pinned, version = version + 1, updated_at = :now WHERE id = :id

-- name: fact_changes_weigh
-- Held where a person set it; freed, it moves on from where it is.
UPDATE long_term_memories
SET weight = :weight, weight_held = :held, weighed_at = :now, version = version + 1, updated_at = :now
WHERE id = :id

-- name: fact_changes_refresh
-- What comes back into recall starts anew, else it would fade out of it the next day.
UPDATE long_term_memories
SET weight = max(weight, importance), weighed_at = :now,
    expires_at = CASE WHEN expires_at > :now THEN expires_at END
WHERE id = :id
