-- Tokens of a session's window are `token_count` less `reset_tokens`; compaction is asked for as it grows.
ALTER TABLE sessions ADD COLUMN reset_tokens INTEGER NOT NULL DEFAULT 0;     -- token_count at the last reset
ALTER TABLE sessions ADD COLUMN compact_tokens INTEGER NOT NULL DEFAULT 0;   -- token_count when compaction was last asked for
ALTER TABLE sessions ADD COLUMN timeline_seq INTEGER NOT NULL DEFAULT 0;     -- last seq that the timeline was asked to tell of

-- compact_seq was the seq at which compaction was asked for, and nothing answered; now it is the last boundary asked for.
UPDATE sessions SET compact_seq = 0;
UPDATE jobs SET state = 'pending', due_at = updated_at WHERE kind = 'compact' AND state = 'deferred';

-- A session that has not been told of is unfinished too.
DROP INDEX sessions_unfinished;
CREATE INDEX sessions_unfinished ON sessions (last_activity)
WHERE (open_turn IS NOT NULL OR extracted_turn < turn_count OR timeline_seq < last_seq);

ALTER TABLE session_checkpoints ADD COLUMN base_id INTEGER;                  -- the checkpoint that it was built on
ALTER TABLE session_checkpoints ADD COLUMN method TEXT;                      -- 'rules' or 'llm:<model>'
ALTER TABLE session_checkpoints ADD COLUMN source_tokens INTEGER NOT NULL DEFAULT 0;  -- of all messages it stands for
CREATE UNIQUE INDEX session_checkpoints_by_boundary ON session_checkpoints (session_pk, boundary_seq);
