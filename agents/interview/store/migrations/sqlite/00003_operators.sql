-- +goose Up
-- What the lists and sums of operators need; see package session for the meaning.
ALTER TABLE interview_sessions ADD COLUMN status   TEXT    NOT NULL DEFAULT 'open';
ALTER TABLE interview_sessions ADD COLUMN since_ns INTEGER NOT NULL DEFAULT 0; -- has owed its message, or else was changed
ALTER TABLE interview_sessions ADD COLUMN cost_ue  INTEGER NOT NULL DEFAULT 0; -- millionths of EUR
UPDATE interview_sessions SET
  status = CASE
    WHEN body ->> '$.phase' = 'finished' THEN 'finished'
    WHEN coalesce(body ->> '$.owed.limit', '') <> '' THEN 'limited'
    WHEN coalesce(body ->> '$.owed.failed', '') <> '' THEN 'stuck'
    WHEN body ->> '$.phase' = 'owing' THEN 'owing'
    ELSE 'open' END,
  since_ns = coalesce(unixepoch(body ->> '$.updated'), 0) * 1000000000,
  cost_ue = CAST(round(coalesce(CAST(body ->> '$.spent' AS REAL), 0) * 1000000) AS INTEGER);
CREATE INDEX interview_sessions_status         ON interview_sessions (status, since_ns);
CREATE INDEX interview_sessions_status_created ON interview_sessions (status, created_ns);
CREATE INDEX interview_sessions_status_cost    ON interview_sessions (status, cost_ue);
CREATE INDEX interview_sessions_since          ON interview_sessions (since_ns);
CREATE INDEX interview_sessions_cost           ON interview_sessions (cost_ue);

ALTER TABLE interview_calls ADD COLUMN day      TEXT NOT NULL DEFAULT ''; -- UTC
ALTER TABLE interview_calls ADD COLUMN currency TEXT NOT NULL DEFAULT '';
ALTER TABLE interview_calls ADD COLUMN cost     REAL; -- NULL if it is unknown
UPDATE interview_calls SET
  day = coalesce(strftime('%Y-%m-%d', body ->> '$.at'), ''),
  currency = coalesce(substr(body ->> '$.cost', instr(body ->> '$.cost', ' ') + 1), ''),
  cost = CAST(body ->> '$.cost' AS REAL);
CREATE INDEX interview_calls_day ON interview_calls (day, currency, cost);
