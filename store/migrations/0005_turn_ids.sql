-- Late messages that name their turn are looked up within the consumer's transaction.
CREATE INDEX main_messages_turn_id ON main_messages (session_pk, turn_id, turn) WHERE turn_id IS NOT NULL;
