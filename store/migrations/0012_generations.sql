-- What another model, prompt or version of the rules makes of chosen sessions, beside the facts that stand.
CREATE TABLE fact_generations (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    scope_id   INTEGER NOT NULL REFERENCES scopes (id),
    state      TEXT NOT NULL DEFAULT 'building' CHECK (state IN ('building', 'ready', 'switching', 'active', 'dropped')),
    model      TEXT,                              -- NULL: the rules
    prompt     TEXT,                              -- NULL: the configured one
    sessions   TEXT NOT NULL,                     -- JSON array of sessions.id
    sessions_left INTEGER NOT NULL,               -- still to be read, or to be let in
    actor      TEXT NOT NULL,
    reason     TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
) STRICT;
CREATE INDEX fact_generations_by_scope ON fact_generations (scope_id);

-- Drafts wait here until a person has seen the difference; none of them is recalled.
CREATE TABLE generation_drafts (
    generation_id INTEGER NOT NULL REFERENCES fact_generations (id) ON DELETE CASCADE,
    session_pk    INTEGER NOT NULL,
    place         INTEGER NOT NULL,
    extractor     TEXT NOT NULL,
    draft         TEXT NOT NULL,                  -- JSON of memory.facts.model.Draft
    PRIMARY KEY (generation_id, session_pk, place)
) STRICT, WITHOUT ROWID;
