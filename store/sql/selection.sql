-- name: selection_messages
-- Sorted out before anything is ranked; system messages are not in the index.
SELECT m.id FROM main_messages AS m
WHERE m.scope_id = :scope_id
    AND (:session_pk IS NULL OR m.session_pk = :session_pk)
    AND (:agent_id IS NULL OR m.agent_id = :agent_id)
    AND (:since IS NULL OR m.occurred_at >= :since)
    AND (:until IS NULL OR m.occurred_at < :until)
    AND (:types IS NULL OR m.msg_type IN (SELECT value FROM json_each(:types)))
    AND :tags IS NULL
    AND (:data_source IS NULL OR m.data_source IS NULL OR m.data_source = :data_source)
    AND (:metadata IS NULL OR NOT EXISTS (
        SELECT 1 FROM json_each(:metadata) AS w
        WHERE NOT EXISTS (
            SELECT 1 FROM json_each(m.metadata) AS h WHERE h.key = w.key AND h.type = w.type AND h.value IS w.value
        )
    ))

-- name: selection_summaries
-- A summary is of its session's agent and source.
SELECT t.id FROM short_term_memories AS t JOIN sessions AS s ON s.id = t.session_pk
WHERE t.scope_id = :scope_id AND t.in_recall
    AND (:session_pk IS NULL OR t.session_pk = :session_pk)
    AND (:agent_id IS NULL OR s.agent_id = :agent_id)
    AND (:since IS NULL OR t.occurred_at >= :since)
    AND (:until IS NULL OR t.occurred_at < :until)
    AND (:data_source IS NULL OR s.data_source IS NULL OR s.data_source = :data_source)
    AND t.confidence >= :min_confidence
    AND :types IS NULL AND :tags IS NULL AND :metadata IS NULL

-- name: selection_facts
-- What holds at the moment that is asked about; a fact that nobody shared is its own agent's. What was archived without
-- ever having passed the gate was never known.
SELECT l.id FROM long_term_memories AS l
WHERE l.scope_id = :scope_id AND l.status IN (SELECT value FROM json_each(:statuses))
    AND (l.status <> 'archived' OR EXISTS (
        SELECT 1 FROM memory_history AS h WHERE h.memory_id = l.memory_id AND h.change = 'activated'
    ))
    AND (:any_time OR (l.valid_from <= :at AND (l.valid_to IS NULL OR l.valid_to > :at)))
    AND (l.expires_at IS NULL OR l.expires_at > :at)
    AND (:session_pk IS NULL OR l.source_session = :session_pk)
    AND (:agent_id IS NULL OR l.owner_agent IS NULL OR l.owner_agent = :agent_id OR l.visibility = 'shared')
    AND (:since IS NULL OR l.valid_from >= :since)
    AND (:fact_until IS NULL OR l.valid_from < :fact_until)
    AND (:types IS NULL OR l.memory_type IN (SELECT value FROM json_each(:types)))
    AND (:tags IS NULL OR NOT EXISTS (
        SELECT 1 FROM json_each(:tags) AS w WHERE w.value NOT IN (SELECT value FROM json_each(l.tags))
    ))
    AND l.confidence >= :min_confidence
    AND (:data_source IS NULL OR l.data_source IS NULL OR l.data_source = :data_source)
    AND :metadata IS NULL

-- name: selection_timeline
-- Entries that no coarser one holds, as the timeline itself shows them.
SELECT t.id FROM timeline AS t LEFT JOIN sessions AS s ON s.id = t.session_pk
WHERE t.scope_id = :scope_id AND (t.rolled_into IS NULL OR t.session_pk = :session_pk)
    AND (:session_pk IS NULL OR t.session_pk = :session_pk)
    AND (:agent_id IS NULL OR s.agent_id = :agent_id)
    AND (:since IS NULL OR t.ends_at >= :since)
    AND (:until IS NULL OR t.starts_at < :until)
    AND (:data_source IS NULL OR s.data_source IS NULL OR s.data_source = :data_source)
    AND :types IS NULL AND :tags IS NULL AND :metadata IS NULL
