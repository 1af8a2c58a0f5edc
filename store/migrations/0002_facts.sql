-- What the gate decides by, and what a fact can say of where it comes from.

ALTER TABLE long_term_memories ADD COLUMN subject TEXT NOT NULL DEFAULT 'user';       -- whose it is: 'user', a speaker's name, or such as 'user/sister'
ALTER TABLE long_term_memories ADD COLUMN attribute TEXT NOT NULL DEFAULT '';         -- what of the subject is said, such as 'home' or 'likes'
ALTER TABLE long_term_memories ADD COLUMN topic TEXT NOT NULL DEFAULT '';             -- the thing it is about, in terms, such as 'green tea'
ALTER TABLE long_term_memories ADD COLUMN value TEXT NOT NULL DEFAULT '';             -- the value in terms, such as 'berlin'
ALTER TABLE long_term_memories ADD COLUMN polarity INTEGER NOT NULL DEFAULT 1;        -- 1 said to be so, -1 said not to be so
ALTER TABLE long_term_memories ADD COLUMN said_by TEXT NOT NULL DEFAULT 'user';       -- user, person, assistant, tool, import, operator
ALTER TABLE long_term_memories ADD COLUMN trust REAL NOT NULL DEFAULT 1.0;
ALTER TABLE long_term_memories ADD COLUMN extractor TEXT NOT NULL DEFAULT '';         -- 'rules/<version>', 'llm:<model>/<prompt digest>', or empty
ALTER TABLE long_term_memories ADD COLUMN source_text TEXT NOT NULL DEFAULT '';       -- the sentence it stands on
ALTER TABLE long_term_memories ADD COLUMN status_reason TEXT;                         -- why it is a candidate still, or archived
ALTER TABLE long_term_memories ADD COLUMN conflicts_with TEXT NOT NULL DEFAULT '[]';  -- JSON array of memory ids, where nobody can tell which is right
CREATE INDEX long_term_memories_by_attribute ON long_term_memories (scope_id, subject, attribute, id) WHERE status = 'active';
CREATE INDEX long_term_memories_by_topic ON long_term_memories (scope_id, topic, id) WHERE status = 'active' AND topic <> '';

ALTER TABLE sessions ADD COLUMN extracted_at REAL;                                    -- when the last extraction window was fixed

-- Windows of one scope are extracted in the order in which they were said, so each job names its scope.
UPDATE jobs SET payload = json_set(payload, '$.scope_id', (
    SELECT s.scope_id FROM sessions AS s WHERE s.id = payload ->> '$.session_pk'
)) WHERE kind IN ('extract', 'remember', 'forget') AND state <> 'done';
CREATE INDEX jobs_by_scope ON jobs (payload ->> '$.scope_id', id)
WHERE kind IN ('extract', 'remember', 'forget') AND state IN ('pending', 'running');
