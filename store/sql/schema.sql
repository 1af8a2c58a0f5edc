-- name: schema_has_records
-- An empty file has no record table yet.
SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'

-- name: schema_version
-- The newest migration that was applied.
SELECT max(version) FROM schema_migrations

-- name: schema_records
-- Checksums are compared with the files at every opening.
SELECT version, checksum FROM schema_migrations ORDER BY version

-- name: schema_record
-- Written in the migration's own transaction, so that it is applied once or not at all.
INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (:version, :name, :checksum, :now)
