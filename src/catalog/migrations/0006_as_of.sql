-- What going back in time needs to know, true counts of versions, and trash whose folder was taken out of it.

-- version_count is how many versions there are; last_number, which never shrinks, numbers the next one.
ALTER TABLE entries ADD COLUMN last_number BIGINT NOT NULL DEFAULT 0;
UPDATE entries SET last_number = version_count;
UPDATE entries SET version_count = (SELECT count(*) FROM versions v WHERE v.file = entries.id) WHERE kind = 0;

-- Whose version it was, and since when it was the head; null for those purged before this was kept.
ALTER TABLE purged_versions ADD COLUMN file BYTEA;
ALTER TABLE purged_versions ADD COLUMN head_us BIGINT;
CREATE INDEX purged_versions_by_file ON purged_versions (file) WHERE file IS NOT NULL;

-- Mode and mtime that an entry has since a time without a new version.
CREATE TABLE attributes (
  workspace BYTEA NOT NULL,
  file BYTEA NOT NULL,
  since_us BIGINT NOT NULL,
  mode BIGINT NOT NULL,
  mtime_us BIGINT NOT NULL,
  PRIMARY KEY (workspace, file, since_us)
) /*clustered*/;
-- When they were set until now is not known; saying "with the head" undoes none of them.
INSERT INTO attributes (workspace, file, since_us, mode, mtime_us)
SELECT e.workspace, e.id, v.head_us, e.mode, e.mtime_us FROM entries e JOIN versions v ON v.id = e.head
WHERE e.kind = 0 AND v.head_us IS NOT NULL AND (e.mode <> v.mode OR e.mtime_us <> v.mtime_us);

-- What went to the trash together has one root and one time. Where the root or a folder in between was taken
-- out, the rest was out of reach: whatever has no folder above it in its group becomes a root of its own.
CREATE TABLE trash_mending (
  id BYTEA PRIMARY KEY,
  root BYTEA NOT NULL,
  trashed_us BIGINT NOT NULL,
  parent TEXT NOT NULL,
  path TEXT NOT NULL,
  kind BIGINT NOT NULL
) /*clustered*/;
INSERT INTO trash_mending (id, root, trashed_us, parent, path, kind)
SELECT id, COALESCE(trash_root, id), trashed_us, parent,
  CASE WHEN parent = '' THEN name ELSE parent || '/' || name END, kind
FROM entries WHERE trashed_us IS NOT NULL;
CREATE INDEX trash_mending_by_path ON trash_mending (root, trashed_us, path);
CREATE INDEX trash_mending_by_parent ON trash_mending (root, trashed_us, parent);
CREATE TABLE trash_mended (
  id BYTEA PRIMARY KEY,
  root BYTEA NOT NULL
) /*clustered*/;
INSERT INTO trash_mended (id, root)
WITH RECURSIVE whole (id, new_root, root, trashed_us, path) AS (
  SELECT m.id, m.id, m.root, m.trashed_us, m.path FROM trash_mending m WHERE NOT EXISTS (
    SELECT 1 FROM trash_mending p
    WHERE p.root = m.root AND p.trashed_us = m.trashed_us AND p.path = m.parent AND p.kind = 1)
  UNION ALL
  SELECT m.id, w.new_root, m.root, m.trashed_us, m.path FROM whole w JOIN trash_mending m
  ON m.root = w.root AND m.trashed_us = w.trashed_us AND m.parent = w.path
)
SELECT id, new_root FROM whole;
UPDATE entries SET trash_root = (SELECT m.root FROM trash_mended m WHERE m.id = entries.id)
WHERE trashed_us IS NOT NULL;
UPDATE entries SET trash_root = NULL WHERE trashed_us IS NULL AND trash_root IS NOT NULL;
DROP TABLE trash_mended;
DROP TABLE trash_mending;
