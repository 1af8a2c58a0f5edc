-- name: fulltext_index
-- Contentless: the text stands in its own table.
INSERT INTO memory_fts (rowid, scope, terms) VALUES (?, ?, ?)

-- name: fulltext_remove
-- Erased, retired or archived.
DELETE FROM memory_fts WHERE rowid = ?

-- name: fulltext_postings
-- Which rows of the scope hold each term; as text, since a row for each would take four times as long. No bm25 here: it
-- counts every term over all users' rows, whatever the scope.
SELECT (SELECT group_concat(rowid) FROM memory_fts WHERE memory_fts MATCH j.value)
FROM json_each(:matches) AS j
ORDER BY j.key

-- name: fulltext_postings_mostly
-- The same where the scope has most of all rows: whose each is stands in an index, which costs half of walking through
-- the scope's own list once a term.
SELECT (
    SELECT group_concat(f.rowid) FROM memory_fts AS f
    WHERE f.memory_fts MATCH j.value AND CASE f.rowid & 3
        WHEN 0 THEN EXISTS (
            SELECT 1 FROM main_messages AS m INDEXED BY main_messages_by_scope
            WHERE m.scope_id = :scope_id AND m.id = f.rowid / 4
        )
        WHEN 1 THEN EXISTS (
            SELECT 1 FROM short_term_memories AS t WHERE t.id = f.rowid / 4 AND t.scope_id = :scope_id
        )
        ELSE EXISTS (SELECT 1 FROM long_term_memories AS l WHERE l.id = f.rowid / 4 AND l.scope_id = :scope_id)
    END
)
FROM json_each(:matches) AS j
ORDER BY j.key

-- name: fulltext_newest
-- The same for the one term of a large scope that may stand in most of its rows.
SELECT group_concat(p.rowid)
FROM (SELECT rowid FROM memory_fts WHERE memory_fts MATCH :matches ->> 0 ORDER BY rowid DESC LIMIT :most) AS p

-- name: fulltext_narrow
-- Those of the found rows that are of one session or of one agent.
SELECT j.value FROM json_each(:keys) AS j
WHERE CASE j.value % 4
    WHEN 0 THEN EXISTS (
        SELECT 1 FROM main_messages AS m
        WHERE m.id = j.value / 4 AND (:session_pk IS NULL OR m.session_pk = :session_pk)
            AND (:agent_id IS NULL OR m.agent_id = :agent_id)
    )
    WHEN 1 THEN EXISTS (
        SELECT 1 FROM short_term_memories AS t JOIN sessions AS s ON s.id = t.session_pk
        WHERE t.id = j.value / 4 AND (:session_pk IS NULL OR t.session_pk = :session_pk)
            AND (:agent_id IS NULL OR s.agent_id = :agent_id)
    )
    ELSE EXISTS (
        SELECT 1 FROM long_term_memories AS l
        WHERE l.id = j.value / 4 AND (:session_pk IS NULL OR l.source_session = :session_pk)
            AND (:agent_id IS NULL OR l.owner_agent = :agent_id)
    )
END

-- name: fulltext_texts
-- The index does not say how often a term stands in a row; the row's beginning does, as it was indexed.
SELECT
    j.value,
    CASE j.value % 4
        WHEN 0 THEN (
            SELECT coalesce(m.metadata ->> '$.name' || ': ', '') || substr(m.content, 1, :cut)
            FROM main_messages AS m WHERE m.id = j.value / 4
        )
        WHEN 1 THEN (SELECT substr(t.content, 1, :cut) FROM short_term_memories AS t WHERE t.id = j.value / 4)
        ELSE (SELECT substr(l.content, 1, :cut) FROM long_term_memories AS l WHERE l.id = j.value / 4)
    END
FROM json_each(:keys) AS j

-- name: fulltext_scope_size
-- The sessions know how many messages they have.
SELECT coalesce(sum(message_count), 0) FROM sessions WHERE scope_id = :scope_id

-- name: fulltext_rarity
-- Where the newest rows that hold a term reach back to: the further, the rarer it is. None where it has no more. Of all
-- users: within one it takes four times as long, and says about the same of the common terms that it is asked for.
SELECT (SELECT rowid FROM memory_fts WHERE memory_fts MATCH j.value ORDER BY rowid DESC LIMIT 1 OFFSET :seen)
FROM json_each(:matches) AS j
ORDER BY j.key
