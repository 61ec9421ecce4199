-- +goose Up
-- Attempts at the code of a session on its last day with one; a right code ends the count.
CREATE TABLE interview_tries (
  session text COLLATE "C" PRIMARY KEY REFERENCES interview_sessions ON DELETE CASCADE,
  day     text   NOT NULL, -- UTC
  tries   bigint NOT NULL
);
