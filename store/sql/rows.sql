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

-- name: rows_find
-- The row that is the same by what it is known by; {table} is `<table> WHERE <column> IS :<column> AND ...`.
SELECT id FROM {table} LIMIT 1

-- name: rows_taken
-- Numbers that stand for other rows here already.
SELECT id FROM {table} WHERE id IN (SELECT value FROM json_each(:ids))

-- name: rows_highest
-- Numbers are not given out again, also after the highest row was deleted.
SELECT max(coalesce((SELECT max(id) FROM {table}), 0), coalesce((SELECT seq FROM sqlite_sequence WHERE name = :name), 0))

-- name: rows_ledger
-- The ledger's rows of a scope's messages.
SELECT e.* FROM json_each(:ids) AS j CROSS JOIN events AS e ON e.namespace = :namespace AND e.event_id = j.value
ORDER BY e.event_id
