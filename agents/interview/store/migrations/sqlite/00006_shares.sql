-- +goose Up
-- Tokens that open the audit of one session; only their hashes are stored.
CREATE TABLE interview_shares (
  hash       TEXT    PRIMARY KEY, -- SHA-256 of the token, in hexadecimal
  session    TEXT    NOT NULL REFERENCES interview_sessions ON DELETE CASCADE,
  recipient  TEXT    NOT NULL, -- for operators
  texts      INTEGER NOT NULL, -- whether the audit contains the texts of messages
  created_ns INTEGER NOT NULL,
  expires_ns INTEGER NOT NULL,
  revoked    INTEGER NOT NULL,
  opened     INTEGER NOT NULL, -- number of uses
  last_ns    INTEGER NOT NULL  -- the last use, or 0
) STRICT, WITHOUT ROWID;
CREATE INDEX interview_shares_session ON interview_shares (session);
