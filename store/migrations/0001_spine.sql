-- All times are unix seconds (REAL). Scope is (namespace, user): one row of `scopes`, whose id stands in every other table.
-- AUTOINCREMENT where an id stands in a job's subject or in an index: an id that came back would inherit what the old row was owed.

CREATE TABLE scopes (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,
    user_id   TEXT NOT NULL,
    UNIQUE (namespace, user_id)
) STRICT;

-- One row an event for good, so that a repeat is known even after its message is gone.
CREATE TABLE events (
    namespace  TEXT NOT NULL,
    event_id   TEXT NOT NULL,
    type       TEXT NOT NULL,
    digest     TEXT NOT NULL,
    entry_id   TEXT NOT NULL,
    stored_at  REAL NOT NULL,
    PRIMARY KEY (namespace, event_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace        TEXT NOT NULL,
    session_id       TEXT NOT NULL,
    scope_id         INTEGER NOT NULL REFERENCES scopes (id),
    agent_id         TEXT,
    data_source      TEXT,
    shared           INTEGER NOT NULL DEFAULT 0,
    last_seq         INTEGER NOT NULL DEFAULT 0,
    turn_count       INTEGER NOT NULL DEFAULT 0,   -- number of the newest turn, open or closed; the first is 1
    open_turn        INTEGER,                      -- number of the open turn, NULL when none is
    open_turn_id     TEXT,                         -- its explicit turn_id, if the publisher gave one
    open_tool_calls  TEXT NOT NULL DEFAULT '[]',   -- JSON array of tool call ids that have no result yet
    closed_turns     INTEGER NOT NULL DEFAULT 0,
    extracted_turn   INTEGER NOT NULL DEFAULT 0,   -- last turn that an extraction window covers
    compact_seq      INTEGER NOT NULL DEFAULT 0,   -- seq at which compaction was last asked for
    reset_seq        INTEGER NOT NULL DEFAULT 0,   -- the window starts after it
    message_count    INTEGER NOT NULL DEFAULT 0,
    token_count      INTEGER NOT NULL DEFAULT 0,
    started_at       REAL NOT NULL,
    ended_at         REAL,
    last_activity    REAL NOT NULL,                -- by the ingest clock, not by the events' own times
    UNIQUE (namespace, session_id)
) STRICT;
CREATE INDEX sessions_unfinished ON sessions (last_activity) WHERE (open_turn IS NOT NULL OR extracted_turn < turn_count);
CREATE INDEX sessions_by_scope ON sessions (scope_id, last_activity);

CREATE TABLE main_messages (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    session_pk    INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    scope_id      INTEGER NOT NULL REFERENCES scopes (id),
    event_id      TEXT NOT NULL,
    seq           INTEGER NOT NULL,
    turn          INTEGER NOT NULL,
    turn_id       TEXT,
    role          TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
    content       TEXT NOT NULL,
    msg_type      TEXT NOT NULL CHECK (msg_type IN ('normal', 'fact', 'todo', 'decision', 'preference', 'error')),
    agent_id      TEXT,
    data_source   TEXT,
    parent_id     TEXT,
    run_id        TEXT,
    token_count   INTEGER NOT NULL,
    has_embedding INTEGER NOT NULL DEFAULT 0,      -- 0 owed, 1 embedded, 2 needs none
    occurred_at   REAL NOT NULL,
    ingested_at   REAL NOT NULL,
    metadata      TEXT NOT NULL DEFAULT '{}',
    UNIQUE (session_pk, seq)
) STRICT;
CREATE INDEX main_messages_by_event ON main_messages (event_id);
CREATE INDEX main_messages_by_turn ON main_messages (session_pk, turn);
CREATE INDEX main_messages_by_scope ON main_messages (scope_id);

CREATE TABLE subagent_runs (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    session_pk   INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    scope_id     INTEGER NOT NULL REFERENCES scopes (id),
    run_id       TEXT NOT NULL,
    agent_id     TEXT NOT NULL,
    parent_id    TEXT,
    brief        TEXT NOT NULL,
    report       TEXT,
    status       TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'completed', 'failed', 'timed_out', 'cancelled')),
    started_at   REAL NOT NULL,
    finished_at  REAL,
    metadata     TEXT NOT NULL DEFAULT '{}',
    UNIQUE (session_pk, run_id)
) STRICT;

CREATE INDEX subagent_runs_by_scope ON subagent_runs (scope_id, started_at);

CREATE TABLE subagent_messages (
    id           INTEGER PRIMARY KEY,
    run_pk       INTEGER NOT NULL REFERENCES subagent_runs (id) ON DELETE CASCADE,
    event_id     TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    role         TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
    content      TEXT NOT NULL,
    token_count  INTEGER NOT NULL,
    cut          INTEGER NOT NULL DEFAULT 0,
    occurred_at  REAL NOT NULL,
    metadata     TEXT NOT NULL DEFAULT '{}',
    UNIQUE (run_pk, seq)
) STRICT;

CREATE TABLE short_term_memories (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    session_pk   INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    scope_id     INTEGER NOT NULL REFERENCES scopes (id),
    turn_first   INTEGER NOT NULL,
    turn_last    INTEGER NOT NULL,
    content      TEXT NOT NULL,
    source_count INTEGER NOT NULL,
    confidence   REAL NOT NULL,
    method       TEXT NOT NULL,                    -- 'rules' or 'llm:<model>'
    in_recall    INTEGER NOT NULL DEFAULT 1,       -- the newest 10 a session
    has_embedding INTEGER NOT NULL DEFAULT 0,
    occurred_at  REAL NOT NULL,                    -- time of the turn's last message
    created_at   REAL NOT NULL,
    UNIQUE (session_pk, turn_first, turn_last)
) STRICT;
CREATE INDEX short_term_memories_by_scope ON short_term_memories (scope_id, occurred_at) WHERE in_recall;

CREATE TABLE session_checkpoints (
    id            INTEGER PRIMARY KEY,
    session_pk    INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    status        TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'success', 'failed')),
    active        INTEGER NOT NULL DEFAULT 0,
    boundary_seq  INTEGER NOT NULL,
    summary       TEXT,
    token_count   INTEGER NOT NULL DEFAULT 0,
    message_count INTEGER NOT NULL DEFAULT 0,
    attempts      INTEGER NOT NULL DEFAULT 0,
    lease_until   REAL,
    lease_token   TEXT,
    reason        TEXT,
    created_at    REAL NOT NULL,
    updated_at    REAL NOT NULL
) STRICT;
CREATE UNIQUE INDEX session_checkpoints_active ON session_checkpoints (session_pk) WHERE active;

CREATE TABLE long_term_memories (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id      TEXT NOT NULL UNIQUE,
    scope_id       INTEGER NOT NULL REFERENCES scopes (id),
    key            TEXT,
    content        TEXT NOT NULL,
    memory_type    TEXT NOT NULL,
    cognitive_kind TEXT NOT NULL DEFAULT 'semantic' CHECK (cognitive_kind IN ('episodic', 'semantic', 'procedural')),
    status         TEXT NOT NULL DEFAULT 'candidate' CHECK (status IN ('candidate', 'active', 'superseded', 'archived', 'deleted')),
    tags           TEXT NOT NULL DEFAULT '[]',
    importance     REAL NOT NULL DEFAULT 0.5,
    confidence     REAL NOT NULL DEFAULT 0.6,
    weight         REAL NOT NULL DEFAULT 0.5,
    source_type    TEXT NOT NULL CHECK (source_type IN ('explicit_tool', 'auto_consolidation', 'context_compression', 'manual', 'import')),
    source_session INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    source_ids     TEXT NOT NULL DEFAULT '[]',     -- JSON array of main_messages.id
    valid_from     REAL NOT NULL,
    valid_to       REAL,
    superseded_by  TEXT,
    expires_at     REAL,
    access_count   INTEGER NOT NULL DEFAULT 0,
    last_accessed  REAL,
    visibility     TEXT NOT NULL DEFAULT 'private' CHECK (visibility IN ('private', 'shared', 'delegated')),
    owner_agent    TEXT,
    data_source    TEXT,
    has_embedding  INTEGER NOT NULL DEFAULT 0,
    version        INTEGER NOT NULL DEFAULT 1,
    created_at     REAL NOT NULL,
    updated_at     REAL NOT NULL
) STRICT;
CREATE INDEX long_term_memories_by_scope ON long_term_memories (scope_id, status);
CREATE UNIQUE INDEX long_term_memories_by_key ON long_term_memories (scope_id, key) WHERE key IS NOT NULL AND status = 'active';

CREATE TABLE memory_history (
    id         INTEGER PRIMARY KEY,
    memory_id  TEXT NOT NULL,
    scope_id   INTEGER NOT NULL REFERENCES scopes (id),
    version    INTEGER NOT NULL,
    change     TEXT NOT NULL,
    before     TEXT,
    actor      TEXT NOT NULL,
    reason     TEXT NOT NULL,
    at         REAL NOT NULL
) STRICT;
CREATE INDEX memory_history_by_memory ON memory_history (memory_id, version);

CREATE TABLE memory_usage_log (
    id         INTEGER PRIMARY KEY,
    memory_id  TEXT NOT NULL,
    scope_id   INTEGER NOT NULL REFERENCES scopes (id),
    session_pk INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    used       INTEGER NOT NULL,
    at         REAL NOT NULL
) STRICT;

CREATE TABLE timeline (
    id          INTEGER PRIMARY KEY,
    scope_id    INTEGER NOT NULL REFERENCES scopes (id),
    session_pk  INTEGER REFERENCES sessions (id) ON DELETE SET NULL,
    level       TEXT NOT NULL CHECK (level IN ('session', 'day', 'week', 'month')),
    period      TEXT NOT NULL,
    content     TEXT NOT NULL,
    source_ids  TEXT NOT NULL DEFAULT '[]',
    starts_at   REAL NOT NULL,
    ends_at     REAL NOT NULL,
    created_at  REAL NOT NULL,
    UNIQUE (scope_id, level, period)
) STRICT;

-- What is owed. A task only says "drain this queue"; the row decides.
CREATE TABLE jobs (
    id          INTEGER PRIMARY KEY,
    kind        TEXT NOT NULL,
    subject     TEXT NOT NULL,
    namespace   TEXT NOT NULL,
    payload     TEXT NOT NULL DEFAULT '{}',
    state       TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running', 'done', 'dead', 'deferred')),
    attempts    INTEGER NOT NULL DEFAULT 0,
    due_at      REAL NOT NULL,
    lease_until REAL,
    lease_token TEXT,
    reason      TEXT,
    created_at  REAL NOT NULL,
    updated_at  REAL NOT NULL,
    UNIQUE (kind, subject)
) STRICT;
CREATE INDEX jobs_owed ON jobs (kind, due_at) WHERE state IN ('pending', 'running');
CREATE INDEX jobs_parked ON jobs (kind, state) WHERE state IN ('dead', 'deferred');

CREATE TABLE dead_letters (
    id         INTEGER PRIMARY KEY,
    source     TEXT NOT NULL CHECK (source IN ('event', 'job')),
    ref        TEXT NOT NULL,                      -- stream entry id, or job id
    namespace  TEXT NOT NULL,
    event_id   TEXT,                               -- of an event that named one, so that its state can be told
    reason     TEXT NOT NULL,
    body       TEXT NOT NULL,                      -- JSON: the entry's fields, or the job's kind, subject and payload
    status     TEXT NOT NULL DEFAULT 'dead' CHECK (status IN ('dead', 'replayed', 'discarded')),
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    UNIQUE (source, ref)
) STRICT;
CREATE INDEX dead_letters_by_event ON dead_letters (namespace, event_id) WHERE event_id IS NOT NULL;
CREATE INDEX dead_letters_dead ON dead_letters (created_at) WHERE status = 'dead';

CREATE TABLE audit_log (
    id        INTEGER PRIMARY KEY,
    actor     TEXT NOT NULL,
    action    TEXT NOT NULL,
    namespace TEXT,
    detail    TEXT NOT NULL DEFAULT '{}',
    at        REAL NOT NULL
) STRICT;

CREATE TABLE archives (
    id         INTEGER PRIMARY KEY,
    namespace  TEXT NOT NULL,
    kind       TEXT NOT NULL,
    location   TEXT NOT NULL UNIQUE,
    checksum   TEXT NOT NULL,
    row_count  INTEGER NOT NULL,
    byte_count INTEGER NOT NULL,
    starts_at  REAL NOT NULL,
    ends_at    REAL NOT NULL,
    created_at REAL NOT NULL
) STRICT;

-- One space a (model, dimensions); its vectors stand in vec_<id> (bits) and vec_<id>_floats.
CREATE TABLE embedding_spaces (
    id         INTEGER PRIMARY KEY,
    model      TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    active     INTEGER NOT NULL DEFAULT 0,
    centre     BLOB NOT NULL,                      -- float32: bits are the signs of (vector - centre)
    centred    INTEGER NOT NULL DEFAULT 0,         -- of how many vectors it is the mean; 0: not yet, all zeros
    created_at REAL NOT NULL,
    UNIQUE (model, dimensions)
) STRICT;
CREATE UNIQUE INDEX embedding_spaces_active ON embedding_spaces (active) WHERE active;

CREATE TABLE embedding_cache (
    space_id   INTEGER NOT NULL REFERENCES embedding_spaces (id) ON DELETE CASCADE,
    digest     BLOB NOT NULL,                      -- SHA-256 of the embedded text
    vector     BLOB NOT NULL,                      -- float32, little-endian
    used_at    REAL NOT NULL,
    PRIMARY KEY (space_id, digest)
) STRICT;
CREATE INDEX embedding_cache_by_use ON embedding_cache (space_id, used_at);

CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- A lease is held by one process; the fence grows with each holder, and a write by an older one is refused.
CREATE TABLE leases (
    name       TEXT PRIMARY KEY,
    owner      TEXT NOT NULL,
    fence      INTEGER NOT NULL,
    expires_at REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- Terms are made in Python (memory/terms.py); of what stands in them `ascii` changes nothing. `scope` holds one term, so
-- that a search never leaves its scope.
-- rowid is 4 * id + kind: 0 a message, 1 a summary, 2 a fact.
CREATE VIRTUAL TABLE memory_fts USING fts5 (
    scope, terms, content = '', contentless_delete = 1, tokenize = 'ascii', detail = full
);
-- A consumer's batch fits into memory whole, so that it becomes one segment.
INSERT INTO memory_fts (memory_fts, rank) VALUES ('hashsize', 8388608);

CREATE VIEW dialogue_buffer AS
SELECT m.* FROM main_messages AS m JOIN sessions AS s ON s.id = m.session_pk WHERE m.turn > s.extracted_turn;
