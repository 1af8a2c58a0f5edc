-- name: leases_get
-- Who holds it, and until when.
SELECT owner, fence, expires_at FROM leases WHERE name = :name

-- name: leases_take
-- Every new holder gets a higher fence, which shuts the one before out.
INSERT INTO leases (name, owner, fence, expires_at) VALUES (:name, :owner, 1, :expires_at)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, fence = fence + 1, expires_at = excluded.expires_at
RETURNING fence

-- name: leases_hold
-- Check and extension in one statement of the protected transaction.
UPDATE leases SET expires_at = :expires_at WHERE name = :name AND fence = :fence RETURNING fence

-- name: leases_release
-- The fence stays, so that it keeps growing.
UPDATE leases SET expires_at = 0 WHERE name = :name AND fence = :fence
