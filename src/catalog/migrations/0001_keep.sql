-- The keep. Times are microseconds since 1970; ids are 16 bytes, hashes 32. The text is valid for SQLite and PostgreSQL; "/*clustered*/" becomes
-- WITHOUT ROWID on SQLite. STORAGE_FORMAT.md explains every table.

CREATE TABLE principals (
  id BYTEA PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  admin BIGINT NOT NULL,
  created_us BIGINT NOT NULL
) /*clustered*/;

CREATE TABLE keys (
  id BYTEA PRIMARY KEY,
  principal BYTEA NOT NULL,
  hash BYTEA NOT NULL UNIQUE,
  name TEXT NOT NULL,
  hint TEXT NOT NULL,
  read_only BIGINT NOT NULL,
  only_workspace BYTEA,
  expires_us BIGINT,
  revoked_us BIGINT,
  last_used_us BIGINT,
  created_us BIGINT NOT NULL
) /*clustered*/;

CREATE TABLE workspaces (
  id BYTEA PRIMARY KEY,
  name TEXT NOT NULL,
  owner BYTEA NOT NULL,
  quota_bytes BIGINT NOT NULL,
  used_bytes BIGINT NOT NULL,
  next_fence BIGINT NOT NULL,
  link_secret BYTEA NOT NULL,
  created_us BIGINT NOT NULL,
  trashed_us BIGINT
) /*clustered*/;
CREATE UNIQUE INDEX workspaces_by_name ON workspaces (owner, name) WHERE trashed_us IS NULL;

CREATE TABLE members (
  principal BYTEA NOT NULL,
  workspace BYTEA NOT NULL,
  role BIGINT NOT NULL,
  PRIMARY KEY (principal, workspace)
) /*clustered*/;

CREATE TABLE entries (
  id BYTEA PRIMARY KEY,
  workspace BYTEA NOT NULL,
  parent TEXT NOT NULL,
  name TEXT NOT NULL,
  kind BIGINT NOT NULL,
  head BYTEA,
  size BIGINT NOT NULL,
  sha256 BYTEA,
  mime TEXT NOT NULL,
  mode BIGINT NOT NULL,
  mtime_us BIGINT NOT NULL,
  created_us BIGINT NOT NULL,
  changed_us BIGINT NOT NULL,
  placed_us BIGINT NOT NULL,
  version_count BIGINT NOT NULL,
  diverged BIGINT NOT NULL,
  trashed_us BIGINT,
  trash_root BYTEA
) /*clustered*/;
CREATE UNIQUE INDEX entries_by_path ON entries (workspace, parent, name) WHERE trashed_us IS NULL;
CREATE INDEX entries_in_trash ON entries (workspace, trashed_us) WHERE trashed_us IS NOT NULL;
CREATE INDEX entries_by_trash_root ON entries (trash_root) WHERE trash_root IS NOT NULL;

CREATE TABLE placements (
  workspace BYTEA NOT NULL,
  file BYTEA NOT NULL,
  until_us BIGINT NOT NULL,
  since_us BIGINT NOT NULL,
  parent TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (workspace, file, until_us)
) /*clustered*/;

CREATE TABLE versions (
  id BYTEA PRIMARY KEY,
  file BYTEA NOT NULL,
  workspace BYTEA NOT NULL,
  number BIGINT NOT NULL,
  sha256 BYTEA NOT NULL,
  size BIGINT NOT NULL,
  mime TEXT NOT NULL,
  mode BIGINT NOT NULL,
  mtime_us BIGINT NOT NULL,
  base BYTEA,
  created_us BIGINT NOT NULL,
  head_us BIGINT,
  author BYTEA NOT NULL,
  source TEXT NOT NULL,
  source_detail TEXT,
  complete BIGINT NOT NULL
) /*clustered*/;
CREATE UNIQUE INDEX versions_by_file ON versions (file, number);

CREATE TABLE purged_versions (
  id BYTEA PRIMARY KEY,
  workspace BYTEA NOT NULL,
  purged_us BIGINT NOT NULL
) /*clustered*/;

CREATE TABLE blobs (
  hash BYTEA NOT NULL UNIQUE,
  size BIGINT NOT NULL,
  kind BIGINT NOT NULL,
  refs BIGINT NOT NULL,
  location TEXT,
  checked_us BIGINT NOT NULL,
  bytes BYTEA
);
CREATE INDEX blobs_unreferenced ON blobs (hash) WHERE refs = 0;

CREATE TABLE workspace_blobs (
  workspace BYTEA NOT NULL,
  hash BYTEA NOT NULL,
  refs BIGINT NOT NULL,
  PRIMARY KEY (workspace, hash)
) /*clustered*/;

CREATE TABLE locks (
  id BYTEA PRIMARY KEY,
  workspace BYTEA NOT NULL,
  path TEXT NOT NULL,
  deep BIGINT NOT NULL,
  shared BIGINT NOT NULL,
  token_hash BYTEA NOT NULL,
  owner BYTEA NOT NULL,
  purpose TEXT NOT NULL,
  fence BIGINT NOT NULL,
  created_us BIGINT NOT NULL,
  expires_us BIGINT NOT NULL
) /*clustered*/;
CREATE INDEX locks_by_workspace ON locks (workspace, path);

CREATE TABLE fences (
  workspace BYTEA NOT NULL,
  path TEXT NOT NULL,
  fence BIGINT NOT NULL,
  deep_fence BIGINT NOT NULL,
  PRIMARY KEY (workspace, path)
) /*clustered*/;

CREATE TABLE journals (
  workspace BYTEA PRIMARY KEY,
  seq BIGINT NOT NULL,
  hash BYTEA NOT NULL,
  checkpointed_seq BIGINT NOT NULL
) /*clustered*/;

CREATE TABLE journal (
  workspace BYTEA NOT NULL,
  seq BIGINT NOT NULL,
  time_us BIGINT NOT NULL,
  kind TEXT NOT NULL,
  actor BYTEA NOT NULL,
  facts TEXT NOT NULL,
  personal TEXT,
  salt BYTEA,
  commitment BYTEA NOT NULL,
  hash BYTEA NOT NULL,
  PRIMARY KEY (workspace, seq)
) /*clustered*/;

CREATE TABLE checkpoints (
  number BIGINT PRIMARY KEY,
  time_us BIGINT NOT NULL,
  leaves TEXT NOT NULL,
  previous BYTEA NOT NULL,
  hash BYTEA NOT NULL,
  signature BYTEA NOT NULL
);
