-- The rows of files count for quotas, too: entries, versions, former places, and the ids of purged versions. Each counts what its columns and its keys in indexes
-- take, about a fifth of it free space in pages; usage.h has the same numbers. A path is stored in the row and in one index, so its bytes count twice. A version
-- counts its type twice, because the entry repeats it, and the rows of its content. `version_bytes` are sizes, for information, and count for no quota.

CREATE VIEW entry_sizes AS
SELECT e.id AS entry, e.workspace AS workspace, 2 * (octet_length(e.parent) + octet_length(e.name)) + 256 AS bytes FROM entries e;

CREATE VIEW version_sizes AS
SELECT v.id AS version, v.workspace AS workspace, v.size AS size,
  2 * octet_length(v.mime) + COALESCE(octet_length(v.source_detail), 0) + 512 AS bytes
FROM versions v;

CREATE VIEW place_sizes AS
SELECT p.workspace AS workspace, p.file AS entry, 2 * (octet_length(p.parent) + octet_length(p.name)) + 128 AS bytes FROM placements p;

ALTER TABLE workspace_usage ADD COLUMN entries BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workspace_usage ADD COLUMN entry_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workspace_usage ADD COLUMN versions BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workspace_usage ADD COLUMN version_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workspace_usage ADD COLUMN purged BIGINT NOT NULL DEFAULT 0;

-- Workspaces that are gone for ever. The ids of their versions stay, so that links answer 410, and count for the owner.
CREATE TABLE purged_workspaces (
  workspace BYTEA PRIMARY KEY,
  owner BYTEA NOT NULL,
  purged_us BIGINT NOT NULL,
  versions BIGINT NOT NULL
) /*clustered*/;
CREATE INDEX purged_workspaces_by_owner ON purged_workspaces (owner);

DROP VIEW principal_holdings;
DROP VIEW workspace_records;

CREATE VIEW workspace_records AS
SELECT w.id AS workspace,
  COALESCE(m.n, 0) AS messages,
  COALESCE(m.bytes, 0) + COALESCE(c.bytes, 0) AS message_bytes,
  COALESCE(x.n, 0) AS executions,
  COALESCE(x.bytes, 0) + COALESCE(s.bytes, 0) + COALESCE(f.bytes, 0) AS execution_bytes,
  COALESCE(j.bytes, 0) AS journal_bytes,
  COALESCE(e.n, 0) AS entries,
  COALESCE(e.bytes, 0) + COALESCE(v.bytes, 0) + COALESCE(p.bytes, 0) + 128 * COALESCE(g.n, 0) AS entry_bytes,
  COALESCE(v.n, 0) AS versions,
  COALESCE(v.size, 0) AS version_bytes,
  COALESCE(g.n, 0) AS purged
FROM workspaces w
LEFT JOIN (SELECT workspace, CAST(sum(bytes) AS BIGINT) AS bytes FROM conversation_sizes GROUP BY workspace) c ON c.workspace = w.id
LEFT JOIN (
  SELECT k.workspace AS workspace, count(*) AS n, CAST(sum(z.bytes) AS BIGINT) AS bytes
  FROM message_sizes z JOIN conversations k ON k.id = z.conversation GROUP BY k.workspace) m ON m.workspace = w.id
LEFT JOIN (SELECT workspace, CAST(sum(bytes) AS BIGINT) AS bytes FROM session_sizes GROUP BY workspace) s ON s.workspace = w.id
LEFT JOIN (
  SELECT i.workspace AS workspace, count(*) AS n, CAST(sum(z.bytes) AS BIGINT) AS bytes
  FROM execution_sizes z JOIN sessions i ON i.id = z.session GROUP BY i.workspace) x ON x.workspace = w.id
LEFT JOIN (
  SELECT i.workspace AS workspace, CAST(sum(z.bytes) AS BIGINT) AS bytes
  FROM execution_file_sizes z JOIN executions o ON o.id = z.execution JOIN sessions i ON i.id = o.session GROUP BY i.workspace) f ON f.workspace = w.id
LEFT JOIN (SELECT workspace, CAST(sum(bytes) AS BIGINT) AS bytes FROM journal_sizes GROUP BY workspace) j ON j.workspace = w.id
LEFT JOIN (SELECT workspace, count(*) AS n, CAST(sum(bytes) AS BIGINT) AS bytes FROM entry_sizes GROUP BY workspace) e ON e.workspace = w.id
LEFT JOIN (
  SELECT workspace, count(*) AS n, CAST(sum(bytes) AS BIGINT) AS bytes, CAST(sum(size) AS BIGINT) AS size
  FROM version_sizes GROUP BY workspace) v ON v.workspace = w.id
LEFT JOIN (SELECT workspace, CAST(sum(bytes) AS BIGINT) AS bytes FROM place_sizes GROUP BY workspace) p ON p.workspace = w.id
LEFT JOIN (SELECT workspace, count(*) AS n FROM purged_versions GROUP BY workspace) g ON g.workspace = w.id;

CREATE VIEW principal_holdings AS
SELECT p.id AS principal, COALESCE(w.bytes, 0) + COALESCE(g.bytes, 0) AS bytes, COALESCE(w.n, 0) AS workspaces, COALESCE(s.n, 0) AS sessions
FROM principals p
LEFT JOIN (
  SELECT o.owner AS owner, count(*) AS n,
    CAST(sum(o.used_bytes + u.message_bytes + u.execution_bytes + u.journal_bytes + u.entry_bytes) AS BIGINT) AS bytes
  FROM workspaces o JOIN workspace_usage u ON u.workspace = o.id GROUP BY o.owner) w ON w.owner = p.id
LEFT JOIN (
  SELECT owner, CAST(sum(128 * (versions + 1)) AS BIGINT) AS bytes FROM purged_workspaces GROUP BY owner) g ON g.owner = p.id
LEFT JOIN (SELECT owner, count(*) AS n FROM sessions WHERE deleted_us IS NULL GROUP BY owner) s ON s.owner = p.id;

DELETE FROM workspace_usage;
INSERT INTO workspace_usage (
  workspace, messages, message_bytes, executions, execution_bytes, journal_bytes, entries, entry_bytes, versions, version_bytes, purged)
SELECT workspace, messages, message_bytes, executions, execution_bytes, journal_bytes, entries, entry_bytes, versions, version_bytes, purged
FROM workspace_records;
DELETE FROM principal_usage;
INSERT INTO principal_usage (principal, bytes, workspaces, sessions) SELECT principal, bytes, workspaces, sessions FROM principal_holdings;

-- An upgrade locks nobody out: a workspace that these rows would put over its quota gets as much more, and so does a principal with a quota of its own. The
-- server's general quota of principals is not known here: `quota_added_bytes` is added to it.
UPDATE workspaces SET quota_bytes = quota_bytes + (SELECT u.entry_bytes FROM workspace_usage u WHERE u.workspace = workspaces.id)
WHERE id IN (
  SELECT u.workspace FROM workspace_usage u JOIN workspaces w ON w.id = u.workspace
  WHERE w.used_bytes + u.message_bytes + u.execution_bytes + u.journal_bytes + u.entry_bytes - 1048576 > w.quota_bytes
  AND u.message_bytes + u.execution_bytes + u.journal_bytes + u.entry_bytes > 1048576);

ALTER TABLE principals ADD COLUMN quota_added_bytes BIGINT NOT NULL DEFAULT 0;
UPDATE principals SET quota_added_bytes = COALESCE((
  SELECT CAST(sum(u.entry_bytes) AS BIGINT) FROM workspaces w JOIN workspace_usage u ON u.workspace = w.id WHERE w.owner = principals.id), 0);
UPDATE principals SET quota_bytes = quota_bytes + quota_added_bytes
WHERE quota_bytes > 0 AND id IN (SELECT u.principal FROM principal_usage u JOIN principals p ON p.id = u.principal WHERE u.bytes > p.quota_bytes);

-- The purge of a workspace finds its uploads.
CREATE INDEX uploads_by_workspace ON uploads (workspace);
