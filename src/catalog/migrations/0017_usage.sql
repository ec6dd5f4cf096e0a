-- What each workspace and each principal keeps. The figures change in the transaction of the rows that they count, so that a quota costs one lookup.
-- A row of the catalog counts the bytes of its text, and 128 for the rest of it. The views say which bytes; `verify` compares them with the figures.

CREATE VIEW conversation_sizes AS
SELECT c.id AS conversation, c.workspace AS workspace,
  octet_length(c.name) + octet_length(c.title) + octet_length(c.container) + 128 AS bytes
FROM conversations c;

CREATE VIEW message_sizes AS
SELECT m.id AS message, m.conversation AS conversation,
  octet_length(m.name) + octet_length(m.role) + octet_length(m.text) + octet_length(m.detail) + 128 + COALESCE((
    SELECT CAST(sum(octet_length(f.origin) + octet_length(f.detail) + 128) AS BIGINT) FROM message_files f WHERE f.message = m.id), 0) AS bytes
FROM messages m;

CREATE VIEW session_sizes AS
SELECT s.id AS session, s.workspace AS workspace,
  octet_length(s.folder) + octet_length(s.name) + octet_length(s.environment) + octet_length(s.labels) + 128 AS bytes
FROM sessions s;

-- Without the files that an execution kept: there may be many, and each is added alone.
CREATE VIEW execution_sizes AS
SELECT x.id AS execution, x.session AS session,
  octet_length(x.code) + octet_length(x.detail) + COALESCE(octet_length(x.request), 0) + COALESCE(octet_length(x.idempotency_key), 0) + 128
  + COALESCE((SELECT octet_length(o.outputs) FROM execution_outputs o WHERE o.execution = x.id), 0) AS bytes
FROM executions x;

CREATE VIEW execution_file_sizes AS
SELECT f.execution AS execution, octet_length(f.detail) + 128 AS bytes FROM execution_files f;

CREATE VIEW journal_sizes AS
SELECT j.workspace AS workspace, octet_length(j.kind) + octet_length(j.facts) + COALESCE(octet_length(j.personal), 0) + 128 AS bytes FROM journal j;

CREATE VIEW workspace_records AS
SELECT w.id AS workspace,
  COALESCE(m.n, 0) AS messages,
  COALESCE(m.bytes, 0) + COALESCE(c.bytes, 0) AS message_bytes,
  COALESCE(x.n, 0) AS executions,
  COALESCE(x.bytes, 0) + COALESCE(s.bytes, 0) + COALESCE(f.bytes, 0) AS execution_bytes,
  COALESCE(j.bytes, 0) AS journal_bytes
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
  FROM execution_file_sizes z JOIN executions e ON e.id = z.execution JOIN sessions i ON i.id = e.session GROUP BY i.workspace) f ON f.workspace = w.id
LEFT JOIN (SELECT workspace, CAST(sum(bytes) AS BIGINT) AS bytes FROM journal_sizes GROUP BY workspace) j ON j.workspace = w.id;

CREATE TABLE workspace_usage (
  workspace BYTEA PRIMARY KEY,
  messages BIGINT NOT NULL,
  message_bytes BIGINT NOT NULL,
  executions BIGINT NOT NULL,
  execution_bytes BIGINT NOT NULL,
  journal_bytes BIGINT NOT NULL
) /*clustered*/;
INSERT INTO workspace_usage (workspace, messages, message_bytes, executions, execution_bytes, journal_bytes)
SELECT workspace, messages, message_bytes, executions, execution_bytes, journal_bytes FROM workspace_records;

-- The records of a workspace beyond the first MiB count for its quota from now on. A workspace that they would put over it gets as much more.
UPDATE workspaces SET quota_bytes = quota_bytes + (
  SELECT u.message_bytes + u.execution_bytes + u.journal_bytes - 1048576 FROM workspace_usage u WHERE u.workspace = workspaces.id)
WHERE id IN (
  SELECT u.workspace FROM workspace_usage u JOIN workspaces w ON w.id = u.workspace
  WHERE u.message_bytes + u.execution_bytes + u.journal_bytes > 1048576
  AND w.used_bytes + u.message_bytes + u.execution_bytes + u.journal_bytes - 1048576 > w.quota_bytes);

-- Of all workspaces that the principal owns, and of all sessions that it has not deleted.
CREATE TABLE principal_usage (
  principal BYTEA PRIMARY KEY,
  bytes BIGINT NOT NULL,
  workspaces BIGINT NOT NULL,
  sessions BIGINT NOT NULL
) /*clustered*/;

CREATE VIEW principal_holdings AS
SELECT p.id AS principal, COALESCE(w.bytes, 0) AS bytes, COALESCE(w.n, 0) AS workspaces, COALESCE(s.n, 0) AS sessions
FROM principals p
LEFT JOIN (
  SELECT o.owner AS owner, count(*) AS n,
    CAST(sum(o.used_bytes + u.message_bytes + u.execution_bytes + u.journal_bytes) AS BIGINT) AS bytes
  FROM workspaces o JOIN workspace_usage u ON u.workspace = o.id GROUP BY o.owner) w ON w.owner = p.id
LEFT JOIN (SELECT owner, count(*) AS n FROM sessions WHERE deleted_us IS NULL GROUP BY owner) s ON s.owner = p.id;
INSERT INTO principal_usage (principal, bytes, workspaces, sessions) SELECT principal, bytes, workspaces, sessions FROM principal_holdings;

CREATE INDEX workspaces_by_owner ON workspaces (owner);
CREATE INDEX keys_by_principal ON keys (principal, id);

-- Limits that an administrator set for one principal; null: those of the server's settings.
ALTER TABLE principals ADD COLUMN quota_bytes BIGINT;
ALTER TABLE principals ADD COLUMN workspaces_max BIGINT;
ALTER TABLE principals ADD COLUMN keys_max BIGINT;
ALTER TABLE principals ADD COLUMN sessions_max BIGINT;
ALTER TABLE principals ADD COLUMN sessions_kept_max BIGINT;
