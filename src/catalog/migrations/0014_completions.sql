-- What a completed upload was completed with, so that a repeated request is told from another one: the SHA-256 of its parts and MD5. Empty where an
-- earlier version completed it.
ALTER TABLE uploads ADD COLUMN completion TEXT NOT NULL DEFAULT '';
