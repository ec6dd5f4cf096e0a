-- The node that holds a session or runs an execution, so that a start ends only its own work; null in rows of before, when there was one node.
-- The epoch of a session grows with each owner: writes of an earlier owner are refused.
ALTER TABLE sessions ADD COLUMN node BYTEA;
ALTER TABLE sessions ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE executions ADD COLUMN node BYTEA;
ALTER TABLE message_files ADD COLUMN node BYTEA;
