-- name: backups_places
-- As far as they are listed, an erasure reaches them.
SELECT location FROM backups ORDER BY created_at

-- name: backups_add
-- A backup into the same folder takes the place of the one before.
INSERT INTO backups (location, checksum, byte_count, created_at) VALUES (:location, :checksum, :byte_count, :now)
ON CONFLICT (location) DO UPDATE
SET checksum = excluded.checksum, byte_count = excluded.byte_count, created_at = excluded.created_at

-- name: backups_list
-- Newest first.
SELECT location, checksum, byte_count, created_at FROM backups ORDER BY created_at DESC

-- name: backups_forget
-- One that was deleted by hand.
DELETE FROM backups WHERE location = :location RETURNING location
