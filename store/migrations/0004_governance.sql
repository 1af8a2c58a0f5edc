-- What moves a fact's weight, and what people said about it.

ALTER TABLE long_term_memories ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;          -- core, never fades
ALTER TABLE long_term_memories ADD COLUMN weight_held INTEGER NOT NULL DEFAULT 0;     -- a person set the weight
ALTER TABLE long_term_memories ADD COLUMN weighed_at REAL;                            -- whose weight it is; NULL: created_at
CREATE INDEX long_term_memories_by_weight ON long_term_memories (scope_id, pinned, weight) WHERE status = 'active';
CREATE INDEX long_term_memories_superseded ON long_term_memories (superseded_by) WHERE superseded_by IS NOT NULL;

ALTER TABLE memory_usage_log ADD COLUMN event_id TEXT;                                -- the memory.used event
ALTER TABLE memory_usage_log ADD COLUMN answer_id INTEGER;                            -- the answer's main_messages.id
ALTER TABLE memory_usage_log ADD COLUMN score REAL NOT NULL DEFAULT 0;                -- share of the fact's words in the answer
ALTER TABLE memory_usage_log ADD COLUMN weight REAL;                                  -- what the weight became
CREATE UNIQUE INDEX memory_usage_log_once ON memory_usage_log (memory_id, event_id) WHERE event_id IS NOT NULL;
CREATE INDEX memory_usage_log_by_memory ON memory_usage_log (memory_id, at);
