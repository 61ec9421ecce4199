-- +goose Up
-- The keys are columns; everything else is JSON as package session writes it
-- (json, not jsonb: that one cannot hold U+0000, which a text may).
CREATE TABLE interview_sessions (
  id         text   COLLATE "C" PRIMARY KEY,
  candidate  text   COLLATE "C" NOT NULL,
  created_ns bigint NOT NULL, -- since 1970, UTC
  version    bigint NOT NULL, -- counts commits
  step       text   NOT NULL, -- finds the queue that goes along
  body       json   NOT NULL
);
CREATE INDEX interview_sessions_created   ON interview_sessions (created_ns, id);
CREATE INDEX interview_sessions_candidate ON interview_sessions (candidate, created_ns, id);

CREATE TABLE interview_submissions (
  session text COLLATE "C" NOT NULL REFERENCES interview_sessions ON DELETE CASCADE,
  id      text COLLATE "C" NOT NULL,
  PRIMARY KEY (session, id)
);

CREATE TABLE interview_messages (
  session text COLLATE "C" NOT NULL REFERENCES interview_sessions ON DELETE CASCADE,
  seq     bigint NOT NULL,
  body    json   NOT NULL,
  PRIMARY KEY (session, seq)
);

CREATE TABLE interview_answers (
  session text COLLATE "C" NOT NULL REFERENCES interview_sessions ON DELETE CASCADE,
  step    text   NOT NULL,
  idx     bigint NOT NULL, -- of the question, or -1 for the comment on a mirror
  message bigint NOT NULL,
  body    json   NOT NULL,
  PRIMARY KEY (session, step, idx)
);

CREATE TABLE interview_queues (
  session text COLLATE "C" NOT NULL REFERENCES interview_sessions ON DELETE CASCADE,
  step    text NOT NULL,
  body    json NOT NULL,
  PRIMARY KEY (session, step)
);

CREATE TABLE interview_calls (
  session text COLLATE "C" NOT NULL REFERENCES interview_sessions ON DELETE CASCADE,
  n       bigint NOT NULL,
  body    json   NOT NULL,
  PRIMARY KEY (session, n)
);
