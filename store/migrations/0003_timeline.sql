-- Entries of the timeline are rolled up into coarser ones; each knows what it was made from and what it is part of.
ALTER TABLE timeline ADD COLUMN method TEXT NOT NULL DEFAULT 'rules';        -- 'rules' or 'llm:<model>'
ALTER TABLE timeline ADD COLUMN raw_length INTEGER NOT NULL DEFAULT 0;       -- characters of the session entries behind it
ALTER TABLE timeline ADD COLUMN seq_first INTEGER;                           -- messages behind a session's entry
ALTER TABLE timeline ADD COLUMN seq_last INTEGER;
ALTER TABLE timeline ADD COLUMN rolled_into INTEGER REFERENCES timeline (id) ON DELETE SET NULL;  -- the coarser entry
CREATE INDEX timeline_by_scope ON timeline (scope_id, level, ends_at);
CREATE INDEX timeline_unrolled ON timeline (level, ends_at) WHERE rolled_into IS NULL;
CREATE INDEX timeline_by_session ON timeline (session_pk, ends_at);
CREATE INDEX timeline_by_coarser ON timeline (rolled_into) WHERE rolled_into IS NOT NULL;
