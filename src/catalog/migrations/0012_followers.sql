-- What follows the journals, and how far each follower has come in each of them. A journal without a row is followed from its beginning.

CREATE TABLE followers (
  name TEXT PRIMARY KEY,
  created_us BIGINT NOT NULL
) /*clustered*/;

CREATE TABLE follower_cursors (
  follower TEXT NOT NULL,
  workspace BYTEA NOT NULL,
  seq BIGINT NOT NULL,
  PRIMARY KEY (follower, workspace)
) /*clustered*/;
