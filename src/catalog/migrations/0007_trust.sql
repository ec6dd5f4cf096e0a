-- What it takes to trust a working copy no more than it deserves, and to forget no accepted work.

-- Birth time and generation tell an inode from an earlier one with the same number; rows of before have none, and prove no rename.
ALTER TABLE manifests ADD COLUMN birth_ns BIGINT NOT NULL DEFAULT 0;
ALTER TABLE manifests ADD COLUMN generation BIGINT NOT NULL DEFAULT 0;
ALTER TABLE manifests ADD COLUMN sha256 BYTEA;
ALTER TABLE manifests ADD COLUMN complete BIGINT NOT NULL DEFAULT 1;
DELETE FROM manifests WHERE length(path) = 0;

-- The boot of the machine in which the copy was last written without being synced; empty once it is synced.
ALTER TABLE sessions ADD COLUMN copy_boot TEXT NOT NULL DEFAULT 'unknown';

-- What could not be kept as the head of its file: refused, kept aside, or recovered after a power cut.
CREATE TABLE unkept (
  session BYTEA NOT NULL,
  path TEXT NOT NULL,
  what TEXT NOT NULL,
  reason TEXT NOT NULL,
  message TEXT NOT NULL,
  version BYTEA,
  only_copy BIGINT NOT NULL,
  since_us BIGINT NOT NULL,
  told BIGINT NOT NULL,
  PRIMARY KEY (session, path, what)
) /*clustered*/;

-- How a queued execution is to be run; null once it has started.
ALTER TABLE executions ADD COLUMN request TEXT;
CREATE INDEX executions_accepted ON executions (created_us, number) WHERE request IS NOT NULL;
