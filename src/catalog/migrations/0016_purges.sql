-- Purges of large folders go in steps, so that other writers get between. The folder's own entry goes first; what is left of it is named here until
-- the last step.

CREATE TABLE purges (
  root BYTEA PRIMARY KEY,
  workspace BYTEA NOT NULL,
  path TEXT NOT NULL
) /*clustered*/;
