-- The time of the last change in a journal. No later change has an earlier one, even if the clock is set back.
ALTER TABLE journals ADD COLUMN time_us BIGINT NOT NULL DEFAULT 0;
UPDATE journals SET time_us = COALESCE(
  (SELECT j.time_us FROM journal j WHERE j.workspace = journals.workspace AND j.seq = journals.seq), 0);
