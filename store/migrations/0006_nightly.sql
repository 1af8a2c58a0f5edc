-- One row a night, by its day in the configured zone; whoever comes first makes it.
CREATE TABLE nightly_runs (
    night       TEXT PRIMARY KEY,
    moment      REAL NOT NULL,                     -- when the night began; ages count up to here
    state       TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done')),
    due         TEXT NOT NULL DEFAULT '{}',        -- JSON: what each step had to do, counted beforehand
    started_at  REAL NOT NULL,
    finished_at REAL,
    retry_at    REAL                               -- steps that failed are tried again from then on
) STRICT, WITHOUT ROWID;

-- Saved in the transaction of the work itself, so that a killed run goes on exactly where it was.
CREATE TABLE nightly_steps (
    id       INTEGER PRIMARY KEY,
    night    TEXT NOT NULL REFERENCES nightly_runs (night) ON DELETE CASCADE,
    step     TEXT NOT NULL,
    state    TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'failed')),
    cursor   TEXT NOT NULL DEFAULT '',
    seen     INTEGER NOT NULL DEFAULT 0,
    kept     INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0,
    deleted  INTEGER NOT NULL DEFAULT 0,
    seconds  REAL NOT NULL DEFAULT 0,
    reason   TEXT,
    UNIQUE (night, step)
) STRICT;

-- While a hold stands, nothing of it is archived, deleted by age or erased. No user: the whole namespace.
CREATE TABLE legal_holds (
    namespace  TEXT NOT NULL,
    user_id    TEXT NOT NULL DEFAULT '',
    reason     TEXT NOT NULL,
    created_at REAL NOT NULL,
    PRIMARY KEY (namespace, user_id)
) STRICT, WITHOUT ROWID;

-- What was brought back from the archive stays at least until then.
CREATE TABLE restored_items (
    kind   TEXT NOT NULL,
    row_id INTEGER NOT NULL,
    until  REAL NOT NULL,
    PRIMARY KEY (kind, row_id)
) STRICT, WITHOUT ROWID;

-- Who was erased, under a key that is not in this file; what happened up to `at` does not come back.
CREATE TABLE tombstones (
    digest TEXT PRIMARY KEY,
    at     REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE backups (
    location   TEXT PRIMARY KEY,
    checksum   TEXT NOT NULL,
    byte_count INTEGER NOT NULL,
    created_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
