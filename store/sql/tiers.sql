-- name: tiers_warm
-- What SQLite keeps of memories.
SELECT 'messages', count(*) FROM main_messages
UNION ALL SELECT 'summaries', count(*) FROM short_term_memories
UNION ALL SELECT 'facts', count(*) FROM long_term_memories
UNION ALL SELECT 'timeline', count(*) FROM timeline
UNION ALL SELECT 'runs', count(*) FROM subagent_runs

-- name: tiers_cold
-- An item that was restored and archived again counts twice.
SELECT kind, sum(row_count) FROM archives GROUP BY kind ORDER BY kind
