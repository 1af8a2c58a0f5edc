-- A question that names a time looks into that time, and a filter by time needs no scan.
CREATE INDEX main_messages_by_time ON main_messages (scope_id, occurred_at);
