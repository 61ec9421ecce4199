-- +goose Up
-- The id of the job of a session, and that of its invitation; empty without one. Operators of json refuse
-- U+0000, so the texts are read without it.
ALTER TABLE interview_sessions
  ADD COLUMN job        text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN invitation text COLLATE "C" NOT NULL DEFAULT '';
UPDATE interview_sessions s SET
  job = coalesce(b.body #>> '{job,id}', ''),
  invitation = coalesce(b.body ->> 'invitation', '')
FROM (SELECT id, replace(body::text, '\u0000', '\u0020')::json AS body FROM interview_sessions) b WHERE b.id = s.id;
CREATE INDEX interview_sessions_job        ON interview_sessions (job, created_ns, id);
CREATE INDEX interview_sessions_invitation ON interview_sessions (invitation, created_ns, id);
