-- +goose Up
-- The id of the job of a session, and that of its invitation; empty without one.
ALTER TABLE interview_sessions ADD COLUMN job        TEXT NOT NULL DEFAULT '';
ALTER TABLE interview_sessions ADD COLUMN invitation TEXT NOT NULL DEFAULT '';
UPDATE interview_sessions SET
  job = coalesce(body ->> '$.job.id', ''),
  invitation = coalesce(body ->> '$.invitation', '');
CREATE INDEX interview_sessions_job        ON interview_sessions (job, created_ns);
CREATE INDEX interview_sessions_invitation ON interview_sessions (invitation, created_ns);
