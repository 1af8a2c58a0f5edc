-- name: sessions_load
-- The consumer loads a batch's sessions at once; :pairs is a JSON array of [namespace, session id].
SELECT
    s.id, s.namespace, s.session_id, s.scope_id, s.agent_id, s.data_source, s.shared, s.last_seq, s.turn_count,
    s.open_turn, s.open_turn_id, s.open_tool_calls, s.closed_turns, s.extracted_turn, s.compact_seq,
    s.compact_tokens, s.reset_seq, s.reset_tokens, s.timeline_seq,
    s.message_count, s.token_count, s.started_at, s.ended_at, s.last_activity, s.extracted_at
FROM json_each(:pairs) AS j
CROSS JOIN sessions AS s ON s.namespace = j.value ->> 0 AND s.session_id = j.value ->> 1

-- name: sessions_create
-- Made by a session's first event, whatever its type.
INSERT INTO sessions (
    namespace, session_id, scope_id, agent_id, data_source, shared, last_seq, turn_count, open_turn, open_turn_id,
    open_tool_calls, closed_turns, extracted_turn, compact_seq, compact_tokens, reset_seq, reset_tokens,
    timeline_seq, message_count, token_count, started_at, ended_at, last_activity, extracted_at
) VALUES (
    :namespace, :session_id, :scope_id, :agent_id, :data_source, :shared, :last_seq, :turn_count, :open_turn,
    :open_turn_id, :open_tool_calls, :closed_turns, :extracted_turn, :compact_seq, :compact_tokens, :reset_seq, :reset_tokens,
    :timeline_seq, :message_count, :token_count, :started_at, :ended_at, :last_activity, :extracted_at
) RETURNING id

-- name: sessions_save
-- Once a batch for each session it touched. Owner and start never change.
UPDATE sessions SET
    agent_id = :agent_id, data_source = :data_source, shared = :shared, last_seq = :last_seq,
    turn_count = :turn_count, open_turn = :open_turn, open_turn_id = :open_turn_id,
    open_tool_calls = :open_tool_calls, closed_turns = :closed_turns, extracted_turn = :extracted_turn,
    compact_seq = :compact_seq, compact_tokens = :compact_tokens, reset_seq = :reset_seq,
    reset_tokens = :reset_tokens, timeline_seq = :timeline_seq, message_count = :message_count,
    token_count = :token_count, ended_at = :ended_at, last_activity = :last_activity,
    extracted_at = :extracted_at
WHERE id = :id

-- name: sessions_idle
-- What time alone must finish: turns that nobody answered, closed ones that no extraction window covers yet, and
-- messages that the timeline does not tell of. The condition is the partial index's own, word for word.
SELECT
    id, namespace, session_id, scope_id, agent_id, data_source, shared, last_seq, turn_count, open_turn, open_turn_id,
    open_tool_calls, closed_turns, extracted_turn, compact_seq, compact_tokens, reset_seq, reset_tokens,
    timeline_seq, message_count, token_count, started_at, ended_at, last_activity, extracted_at
FROM sessions
WHERE (open_turn IS NOT NULL OR extracted_turn < turn_count OR timeline_seq < last_seq) AND last_activity < :before
ORDER BY last_activity
LIMIT :limit

-- name: sessions_from_the_future
-- Asked without a lock first, since it is almost never so; by the partial index.
SELECT 1 FROM sessions
WHERE (open_turn IS NOT NULL OR extracted_turn < turn_count) AND last_activity > :horizon
LIMIT 1

-- name: sessions_heal_clock
-- After the clock was set back, these would be idle only when the old time has come again and passed.
UPDATE sessions SET last_activity = :now
WHERE (open_turn IS NOT NULL OR extracted_turn < turn_count) AND last_activity > :horizon
RETURNING id

-- name: sessions_waiting
-- Turns enough for an extraction window that only waits for its session to rest. The partial index holds few rows.
SELECT
    id, namespace, session_id, scope_id, agent_id, data_source, shared, last_seq, turn_count, open_turn, open_turn_id,
    open_tool_calls, closed_turns, extracted_turn, compact_seq, compact_tokens, reset_seq, reset_tokens,
    timeline_seq, message_count, token_count, started_at, ended_at, last_activity, extracted_at
FROM sessions
WHERE (open_turn IS NOT NULL OR extracted_turn < turn_count OR timeline_seq < last_seq)
    AND coalesce(open_turn - 1, turn_count) - extracted_turn >= :every
    AND (extracted_at <= :rested OR extracted_at > :now)
LIMIT :limit

-- name: sessions_by_pk
-- Of a job.
SELECT
    id, namespace, session_id, scope_id, agent_id, data_source, shared, last_seq, turn_count, open_turn, open_turn_id,
    open_tool_calls, closed_turns, extracted_turn, compact_seq, compact_tokens, reset_seq, reset_tokens,
    timeline_seq, message_count, token_count, started_at, ended_at, last_activity, extracted_at
FROM sessions
WHERE id = :id

-- name: sessions_list
-- What a user sees as their sessions.
SELECT
    id, namespace, session_id, scope_id, agent_id, data_source, shared, last_seq, turn_count, open_turn, open_turn_id,
    open_tool_calls, closed_turns, extracted_turn, compact_seq, compact_tokens, reset_seq, reset_tokens,
    timeline_seq, message_count, token_count, started_at, ended_at, last_activity, extracted_at
FROM sessions
WHERE scope_id = :scope_id
ORDER BY last_activity DESC, id DESC
LIMIT :limit

-- name: sessions_get
-- A session of somebody else is as good as none, unless it was opened as shared.
SELECT
    id, namespace, session_id, scope_id, agent_id, data_source, shared, last_seq, turn_count, open_turn, open_turn_id,
    open_tool_calls, closed_turns, extracted_turn, compact_seq, compact_tokens, reset_seq, reset_tokens,
    timeline_seq, message_count, token_count, started_at, ended_at, last_activity, extracted_at
FROM sessions
WHERE namespace = :namespace AND session_id = :session_id AND (scope_id = :scope_id OR shared)

-- name: sessions_owner
-- Whose the messages in the tail are that name no user.
SELECT c.user_id, s.shared FROM sessions AS s JOIN scopes AS c ON c.id = s.scope_id
WHERE s.namespace = :namespace AND s.session_id = :session_id
