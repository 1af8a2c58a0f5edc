-- name: orphans_range
-- The next keys of an index, as far as one look goes. `rowid` is the key in full text and in a space's floats alike.
SELECT max(key), count(*) FROM (SELECT rowid AS key FROM {table} WHERE rowid > :after ORDER BY rowid LIMIT :limit)

-- name: orphans_in
-- A key whose row is gone, or that may not be searched any more.
SELECT i.rowid FROM {table} AS i
WHERE i.rowid > :after AND (:upto IS NULL OR i.rowid <= :upto) AND CASE i.rowid % 4
    WHEN 0 THEN NOT EXISTS (SELECT 1 FROM main_messages AS m WHERE m.id = i.rowid / 4)
    WHEN 1 THEN NOT EXISTS (SELECT 1 FROM short_term_memories AS t WHERE t.id = i.rowid / 4 AND t.in_recall)
    WHEN 2 THEN NOT EXISTS (SELECT 1 FROM long_term_memories AS l WHERE l.id = i.rowid / 4 AND l.status = 'active')
    ELSE true
END

-- name: free_pages
-- One row a page, and only pages whose row is fetched are freed.
PRAGMA incremental_vacuum(256)

-- name: integrity_check
-- All pages, all indexes, and the inner order of the full-text index.
PRAGMA integrity_check(10)

-- name: wal_checkpoint
-- Truncates the log where nobody reads from it; else as much as can be moved.
PRAGMA wal_checkpoint(TRUNCATE)

-- name: nightly_old
-- Far more than anybody looks at.
SELECT night FROM nightly_runs ORDER BY moment DESC LIMIT -1 OFFSET :keep

-- name: nightly_forget
-- Their steps go with them.
DELETE FROM nightly_runs WHERE night IN (SELECT value FROM json_each(:nights))
