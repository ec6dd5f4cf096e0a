-- The client's name for the request that an execution came from: the same request, sent again, finds it.
ALTER TABLE executions ADD COLUMN idempotency_key TEXT;
CREATE INDEX executions_by_key ON executions (session, idempotency_key, created_us) WHERE idempotency_key IS NOT NULL;
