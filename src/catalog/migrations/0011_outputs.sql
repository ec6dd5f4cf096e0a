-- Long outputs of executions, such as images. Not in the execution's row: that is written again when its last
-- facts are known, and a search in a clustered table reads the whole of each row that it passes.
CREATE TABLE execution_outputs (
  execution BYTEA NOT NULL UNIQUE,
  outputs TEXT NOT NULL
);
