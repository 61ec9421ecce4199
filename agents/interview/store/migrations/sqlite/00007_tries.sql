-- +goose Up
-- Attempts at the code of a session on its last day with one; a right code ends the count.
CREATE TABLE interview_tries (
  session TEXT    PRIMARY KEY REFERENCES interview_sessions ON DELETE CASCADE,
  day     TEXT    NOT NULL, -- UTC
  tries   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
