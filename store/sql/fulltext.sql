-- name: fulltext_index
-- Contentless: the text stands in its own table.
INSERT INTO memory_fts (rowid, scope, terms) VALUES (?, ?, ?)

-- name: fulltext_remove
-- Erased, retired or archived.
DELETE FROM memory_fts WHERE rowid = ?

-- name: fulltext_search
-- bm25 is negative, better is smaller.
SELECT rowid, -bm25(memory_fts, 0.0, 1.0) AS score FROM memory_fts
WHERE memory_fts MATCH :match AND rowid % 4 IN (SELECT value FROM json_each(:kinds))
ORDER BY score DESC
LIMIT :limit

-- name: fulltext_search_narrowed
-- Within one session or of one agent; each match is looked up in its own table.
SELECT rowid, -bm25(memory_fts, 0.0, 1.0) AS score FROM memory_fts
WHERE memory_fts MATCH :match AND rowid % 4 IN (SELECT value FROM json_each(:kinds)) AND CASE rowid % 4
    WHEN 0 THEN EXISTS (
        SELECT 1 FROM main_messages AS m
        WHERE m.id = memory_fts.rowid / 4 AND (:session_pk IS NULL OR m.session_pk = :session_pk)
            AND (:agent_id IS NULL OR m.agent_id = :agent_id)
    )
    WHEN 1 THEN EXISTS (
        SELECT 1 FROM short_term_memories AS t JOIN sessions AS s ON s.id = t.session_pk
        WHERE t.id = memory_fts.rowid / 4 AND (:session_pk IS NULL OR t.session_pk = :session_pk)
            AND (:agent_id IS NULL OR s.agent_id = :agent_id)
    )
    ELSE EXISTS (
        SELECT 1 FROM long_term_memories AS l
        WHERE l.id = memory_fts.rowid / 4 AND (:session_pk IS NULL OR l.source_session = :session_pk)
            AND (:agent_id IS NULL OR l.owner_agent = :agent_id)
    )
END
ORDER BY score DESC
LIMIT :limit

-- name: fulltext_sample_start
-- Where the newest messages of a large scope begin; none in a small one.
SELECT id FROM main_messages WHERE scope_id = :scope_id ORDER BY id DESC LIMIT 1 OFFSET :sample

-- name: fulltext_frequencies
-- How many of these hold each term; the lower bound lets the index skip all that is older.
SELECT (SELECT count(*) FROM memory_fts WHERE memory_fts MATCH j.value AND rowid > :start)
FROM json_each(:matches) AS j
ORDER BY j.key

-- name: fulltext_scope_size
-- The sessions know how many messages they have.
SELECT coalesce(sum(message_count), 0) FROM sessions WHERE scope_id = :scope_id
