-- Records of executions are deleted by workspace.
CREATE INDEX sessions_by_workspace ON sessions (workspace, id);

-- How much refused content exists only in the session's working copy, which therefore stays on the disk. Only so many sessions of a principal may have some.
ALTER TABLE sessions ADD COLUMN only_copies BIGINT NOT NULL DEFAULT 0;
UPDATE sessions SET only_copies = (SELECT count(*) FROM unkept u WHERE u.session = sessions.id AND u.what = 'refused' AND u.only_copy = 1)
WHERE deleted_us IS NULL AND id IN (SELECT u.session FROM unkept u WHERE u.what = 'refused' AND u.only_copy = 1);
CREATE INDEX sessions_with_only_copies ON sessions (owner) WHERE only_copies > 0;
