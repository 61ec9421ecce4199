-- +goose Up
-- The keys are columns; everything else is JSON as package session writes it.
CREATE TABLE interview_sessions (
  id         TEXT    PRIMARY KEY,
  candidate  TEXT    NOT NULL,
  created_ns INTEGER NOT NULL, -- since 1970, UTC
  version    INTEGER NOT NULL, -- counts commits
  step       TEXT    NOT NULL, -- finds the queue that goes along
  body       TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX interview_sessions_created   ON interview_sessions (created_ns);
CREATE INDEX interview_sessions_candidate ON interview_sessions (candidate, created_ns);

CREATE TABLE interview_submissions (
  session TEXT NOT NULL REFERENCES interview_sessions ON DELETE CASCADE,
  id      TEXT NOT NULL,
  PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE interview_messages (
  session TEXT    NOT NULL REFERENCES interview_sessions ON DELETE CASCADE,
  seq     INTEGER NOT NULL,
  body    TEXT    NOT NULL,
  PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE interview_answers (
  session TEXT    NOT NULL REFERENCES interview_sessions ON DELETE CASCADE,
  step    TEXT    NOT NULL,
  idx     INTEGER NOT NULL, -- of the question, or -1 for the comment on a mirror
  message INTEGER NOT NULL,
  body    TEXT    NOT NULL,
  PRIMARY KEY (session, step, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE interview_queues (
  session TEXT NOT NULL REFERENCES interview_sessions ON DELETE CASCADE,
  step    TEXT NOT NULL,
  body    TEXT NOT NULL,
  PRIMARY KEY (session, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE interview_calls (
  session TEXT    NOT NULL REFERENCES interview_sessions ON DELETE CASCADE,
  n       INTEGER NOT NULL,
  body    TEXT    NOT NULL,
  PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;
