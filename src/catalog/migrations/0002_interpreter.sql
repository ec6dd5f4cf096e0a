-- Sessions, their executions, and the manifests of their working copies.

CREATE TABLE sessions (
  id BYTEA PRIMARY KEY,
  workspace BYTEA NOT NULL,
  folder TEXT NOT NULL,
  name TEXT NOT NULL,
  owner BYTEA NOT NULL,
  memory_bytes BIGINT NOT NULL,
  timeout_s BIGINT NOT NULL,
  idle_s BIGINT NOT NULL,
  runtime TEXT NOT NULL,
  environment TEXT NOT NULL,
  labels TEXT NOT NULL,
  execution_count BIGINT NOT NULL,
  dirty BIGINT NOT NULL,
  copy_identity TEXT NOT NULL,
  synced_seq BIGINT NOT NULL,
  created_us BIGINT NOT NULL,
  active_us BIGINT NOT NULL,
  deleted_us BIGINT
) /*clustered*/;
CREATE INDEX sessions_by_owner ON sessions (owner, id);

CREATE TABLE executions (
  id BYTEA PRIMARY KEY,
  session BYTEA NOT NULL,
  number BIGINT NOT NULL,
  author BYTEA NOT NULL,
  language TEXT NOT NULL,
  code TEXT NOT NULL,
  status TEXT NOT NULL,
  outcome TEXT NOT NULL,
  detail TEXT NOT NULL,
  created_us BIGINT NOT NULL,
  started_us BIGINT,
  ended_us BIGINT
) /*clustered*/;
CREATE UNIQUE INDEX executions_by_session ON executions (session, number);

CREATE TABLE execution_files (
  execution BYTEA NOT NULL,
  seq BIGINT NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (execution, seq)
) /*clustered*/;

CREATE TABLE manifests (
  session BYTEA NOT NULL,
  path BYTEA NOT NULL,
  kind BIGINT NOT NULL,
  file BYTEA NOT NULL,
  version BYTEA,
  device BIGINT NOT NULL,
  inode BIGINT NOT NULL,
  size BIGINT NOT NULL,
  mtime_ns BIGINT NOT NULL,
  ctime_ns BIGINT NOT NULL,
  mode BIGINT NOT NULL,
  seen_us BIGINT NOT NULL,
  PRIMARY KEY (session, path)
) /*clustered*/;
