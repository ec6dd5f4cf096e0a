-- Files given for a purpose, uploads in parts, ids that were retracted, and sessions that may not stay awake for ever.

CREATE TABLE purposes (
  file BYTEA PRIMARY KEY,
  workspace BYTEA NOT NULL,
  purpose TEXT NOT NULL,
  expires_us BIGINT
) /*clustered*/;
CREATE INDEX purposes_by_workspace ON purposes (workspace);
CREATE INDEX purposes_that_expire ON purposes (expires_us) WHERE expires_us IS NOT NULL;
CREATE INDEX versions_from_executions ON versions (workspace, id) WHERE source = 'execution';

CREATE TABLE retracted_versions (
  version BYTEA PRIMARY KEY,
  retracted_us BIGINT NOT NULL
) /*clustered*/;

CREATE TABLE uploads (
  id BYTEA PRIMARY KEY,
  owner BYTEA NOT NULL,
  workspace BYTEA NOT NULL,
  filename TEXT NOT NULL,
  purpose TEXT NOT NULL,
  mime TEXT NOT NULL,
  size BIGINT NOT NULL,
  keep_s BIGINT,
  status TEXT NOT NULL,
  version BYTEA,
  created_us BIGINT NOT NULL,
  expires_us BIGINT NOT NULL
) /*clustered*/;
CREATE INDEX uploads_pending ON uploads (expires_us) WHERE status = 'pending';

CREATE TABLE upload_parts (
  upload BYTEA NOT NULL,
  id BYTEA NOT NULL,
  sha256 BYTEA NOT NULL,
  size BIGINT NOT NULL,
  created_us BIGINT NOT NULL,
  PRIMARY KEY (upload, id)
) /*clustered*/;

ALTER TABLE sessions ADD COLUMN awake_max_s BIGINT NOT NULL DEFAULT 0;
