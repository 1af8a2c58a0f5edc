-- name: rows_columns
-- Archive and export copy whole rows, whatever columns a later migration adds.
SELECT name FROM pragma_table_info(:table) ORDER BY cid

-- name: rows_by_ids
-- In order of id, so that a copy is the same each time.
SELECT * FROM {table} WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id

-- name: rows_of_parent
-- Rows that go with another one; {table} is `<table> WHERE <column> IN`.
SELECT * FROM {table} (SELECT value FROM json_each(:values)) ORDER BY id

-- name: rows_delete
-- How many are gone is compared with how many were copied.
DELETE FROM {table} WHERE id IN (SELECT value FROM json_each(:ids)) RETURNING id

-- name: rows_insert
-- {table} is `<table> (<columns>) VALUES (<parameters>)`; a row that stands already is left as it is.
INSERT INTO {table} ON CONFLICT DO NOTHING RETURNING 1
