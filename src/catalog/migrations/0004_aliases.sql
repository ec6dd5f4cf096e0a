-- Who is asking by a token that somebody else signed, and sessions by the names that clients of other dialects give them.

CREATE TABLE subjects (
  source TEXT NOT NULL,
  subject TEXT NOT NULL,
  principal BYTEA NOT NULL,
  created_us BIGINT NOT NULL,
  PRIMARY KEY (source, subject)
) /*clustered*/;

-- The workspace is part of the name: two keys of one owner that open different workspaces never meet in one session.
CREATE TABLE session_aliases (
  owner BYTEA NOT NULL,
  workspace BYTEA NOT NULL,
  kind TEXT NOT NULL,
  alias TEXT NOT NULL,
  session BYTEA NOT NULL,
  created_us BIGINT NOT NULL,
  PRIMARY KEY (owner, workspace, kind, alias)
) /*clustered*/;

-- Versions from elsewhere that were put into a session's folder once, and where.
CREATE TABLE session_attachments (
  session BYTEA NOT NULL,
  version BYTEA NOT NULL,
  path TEXT NOT NULL,
  PRIMARY KEY (session, version)
) /*clustered*/;
