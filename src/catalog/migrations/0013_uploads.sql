-- Uploads of any dialect: its own facts are in `detail`, and bytes can also be appended in order.

ALTER TABLE uploads ADD COLUMN detail TEXT NOT NULL DEFAULT '{}';
-- The purposes of earlier uploads are words from a list of ours, which need no escaping.
UPDATE uploads SET detail = '{"purpose":"' || purpose || '"' || CASE WHEN keep_s IS NULL THEN '' ELSE ',"keep_s":' || keep_s END || '}';
ALTER TABLE uploads DROP COLUMN purpose;
ALTER TABLE uploads DROP COLUMN keep_s;

-- Where appended bytes begin; null for a part, whose place the completion names.
ALTER TABLE upload_parts ADD COLUMN start BIGINT;
