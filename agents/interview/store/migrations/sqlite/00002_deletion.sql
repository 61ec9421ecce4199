-- +goose Up
-- What remains of deleted sessions: hashes of their ids, which are not used again, and sums of their calls.
CREATE TABLE interview_deleted (
  hash TEXT PRIMARY KEY -- SHA-256 of the id, in hexadecimal
) STRICT, WITHOUT ROWID;

CREATE TABLE interview_totals (
  day      TEXT    NOT NULL, -- UTC
  model    TEXT    NOT NULL,
  currency TEXT    NOT NULL,
  calls    INTEGER NOT NULL,
  unpriced INTEGER NOT NULL,
  input    INTEGER NOT NULL,
  output   INTEGER NOT NULL,
  cost     REAL    NOT NULL,
  PRIMARY KEY (day, model, currency)
) STRICT, WITHOUT ROWID;

CREATE TABLE interview_secrets (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
