-- What a scope's vectors are and what changed of them, so that a reader can keep them in memory and tell cheaply whether
-- they still are what the file holds; and which rows a space has, so that another can be filled from it.

-- `version` counts the writes to the scope's vectors; `vectors` says how many stand.
CREATE TABLE vector_scopes (
    space_id INTEGER NOT NULL REFERENCES embedding_spaces (id) ON DELETE CASCADE,
    scope_id INTEGER NOT NULL REFERENCES scopes (id),
    version  INTEGER NOT NULL,
    vectors  INTEGER NOT NULL,
    PRIMARY KEY (space_id, scope_id)
) STRICT, WITHOUT ROWID;

-- key: 4 * id + kind, as in memory_fts. A vector that was removed leaves its row for a while, so that readers drop it too.
CREATE TABLE vector_keys (
    space_id   INTEGER NOT NULL,
    scope_id   INTEGER NOT NULL,
    key        INTEGER NOT NULL,
    session_pk INTEGER NOT NULL,
    version    INTEGER NOT NULL,                   -- the scope's, when it was last written or removed
    gone       INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space_id, scope_id, key),
    FOREIGN KEY (space_id, scope_id) REFERENCES vector_scopes (space_id, scope_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX vector_keys_by_version ON vector_keys (space_id, scope_id, version);

INSERT INTO vector_scopes (space_id, scope_id, version, vectors)
SELECT e.id, m.scope_id, 1, 0 FROM embedding_spaces AS e CROSS JOIN main_messages AS m
WHERE e.active AND m.has_embedding = 1 GROUP BY m.scope_id;
INSERT INTO vector_scopes (space_id, scope_id, version, vectors)
SELECT e.id, t.scope_id, 1, 0 FROM embedding_spaces AS e CROSS JOIN short_term_memories AS t
WHERE e.active AND t.has_embedding = 1 AND t.in_recall GROUP BY t.scope_id ON CONFLICT DO NOTHING;

INSERT INTO vector_keys (space_id, scope_id, key, session_pk, version)
SELECT e.id, m.scope_id, 4 * m.id, m.session_pk, 1 FROM embedding_spaces AS e CROSS JOIN main_messages AS m
WHERE e.active AND m.has_embedding = 1;
INSERT INTO vector_keys (space_id, scope_id, key, session_pk, version)
SELECT e.id, t.scope_id, 4 * t.id + 1, t.session_pk, 1 FROM embedding_spaces AS e CROSS JOIN short_term_memories AS t
WHERE e.active AND t.has_embedding = 1 AND t.in_recall;

UPDATE vector_scopes SET vectors = (
    SELECT count(*) FROM vector_keys AS k
    WHERE k.space_id = vector_scopes.space_id AND k.scope_id = vector_scopes.scope_id
);
