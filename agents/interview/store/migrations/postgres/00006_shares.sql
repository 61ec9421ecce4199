-- +goose Up
-- Tokens that open the audit of one session; only their hashes are stored.
CREATE TABLE interview_shares (
  hash       text COLLATE "C" PRIMARY KEY, -- SHA-256 of the token, in hexadecimal
  session    text COLLATE "C" NOT NULL REFERENCES interview_sessions ON DELETE CASCADE,
  recipient  text   NOT NULL, -- for operators
  texts      bigint NOT NULL, -- whether the audit contains the texts of messages
  created_ns bigint NOT NULL,
  expires_ns bigint NOT NULL,
  revoked    bigint NOT NULL,
  opened     bigint NOT NULL, -- number of uses
  last_ns    bigint NOT NULL  -- the last use, or 0
);
CREATE INDEX interview_shares_session ON interview_shares (session);
