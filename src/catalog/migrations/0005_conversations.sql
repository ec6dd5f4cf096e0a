-- Conversations of the users' apps: their messages, and the versions that each of them shows.

CREATE TABLE conversations (
  id BYTEA PRIMARY KEY,
  workspace BYTEA NOT NULL,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  container TEXT NOT NULL,
  created_us BIGINT NOT NULL,
  changed_us BIGINT NOT NULL
) /*clustered*/;
CREATE UNIQUE INDEX conversations_by_name ON conversations (workspace, name);

CREATE TABLE messages (
  id BYTEA PRIMARY KEY,
  conversation BYTEA NOT NULL,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  time_us BIGINT NOT NULL,
  stored_us BIGINT NOT NULL,
  author BYTEA NOT NULL,
  text TEXT NOT NULL,
  detail TEXT NOT NULL
);
CREATE UNIQUE INDEX messages_by_name ON messages (conversation, name);
CREATE INDEX messages_by_time ON messages (conversation, time_us, id);

CREATE TABLE message_files (
  message BYTEA NOT NULL,
  seq BIGINT NOT NULL,
  workspace BYTEA NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  version BYTEA,
  file BYTEA,
  origin TEXT NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (message, seq)
) /*clustered*/;
CREATE INDEX message_files_by_version ON message_files (version) WHERE version IS NOT NULL;
CREATE INDEX message_files_by_file ON message_files (file) WHERE file IS NOT NULL;
CREATE INDEX message_files_by_origin ON message_files (workspace, origin) WHERE origin <> '';
CREATE INDEX message_files_pending ON message_files (message) WHERE state = 'pending';

-- Which file lay at a path at a time.
CREATE INDEX placements_by_path ON placements (workspace, parent, name);

-- Small pictures of contents; without bytes where none can be made.
CREATE TABLE thumbnails (
  sha256 BYTEA PRIMARY KEY,
  mime TEXT NOT NULL,
  bytes BYTEA,
  made_us BIGINT NOT NULL
);
