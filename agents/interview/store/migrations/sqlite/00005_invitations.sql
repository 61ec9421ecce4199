-- +goose Up
-- Tokens that begin interviews; only their hashes are stored.
CREATE TABLE interview_invitations (
  hash       TEXT    PRIMARY KEY, -- SHA-256 of the token, in hexadecimal
  candidate  TEXT    NOT NULL, -- empty for any
  job        TEXT    NOT NULL, -- empty for any
  uses       INTEGER NOT NULL,
  used       INTEGER NOT NULL,
  created_ns INTEGER NOT NULL,
  expires_ns INTEGER NOT NULL,
  revoked    INTEGER NOT NULL,
  session    TEXT    NOT NULL  -- the last session that it began
) STRICT, WITHOUT ROWID;
