-- When an administrator suspended a principal: none of its keys and tokens opens anything until it is resumed.
ALTER TABLE principals ADD COLUMN suspended_us BIGINT;
