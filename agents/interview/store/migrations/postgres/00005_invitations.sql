-- +goose Up
-- Tokens that begin interviews; only their hashes are stored.
CREATE TABLE interview_invitations (
  hash       text COLLATE "C" PRIMARY KEY, -- SHA-256 of the token, in hexadecimal
  candidate  text   NOT NULL, -- empty for any
  job        text   NOT NULL, -- empty for any
  uses       bigint NOT NULL,
  used       bigint NOT NULL,
  created_ns bigint NOT NULL,
  expires_ns bigint NOT NULL,
  revoked    bigint NOT NULL,
  session    text   NOT NULL  -- the last session that it began
);
