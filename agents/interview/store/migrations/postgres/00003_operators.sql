-- +goose Up
-- What the lists and sums of operators need; see package session for the meaning. Operators of json
-- refuse U+0000, so the texts are read without it.
ALTER TABLE interview_sessions
  ADD COLUMN status   text COLLATE "C" NOT NULL DEFAULT 'open',
  ADD COLUMN since_ns bigint NOT NULL DEFAULT 0, -- has owed its message, or else was changed
  ADD COLUMN cost_ue  bigint NOT NULL DEFAULT 0; -- millionths of EUR
UPDATE interview_sessions s SET
  status = CASE
    WHEN b.body ->> 'phase' = 'finished' THEN 'finished'
    WHEN coalesce(b.body #>> '{owed,limit}', '') <> '' THEN 'limited'
    WHEN coalesce(b.body #>> '{owed,failed}', '') <> '' THEN 'stuck'
    WHEN b.body ->> 'phase' = 'owing' THEN 'owing'
    ELSE 'open' END,
  since_ns = coalesce(extract(epoch FROM (b.body ->> 'updated')::timestamptz)::bigint, 0) * 1000000000,
  cost_ue = coalesce(round(split_part(b.body ->> 'spent', ' ', 1)::numeric * 1000000), 0)
FROM (SELECT id, replace(body::text, '\u0000', '\u0020')::json AS body FROM interview_sessions) b WHERE b.id = s.id;
CREATE INDEX interview_sessions_status         ON interview_sessions (status, since_ns, id);
CREATE INDEX interview_sessions_status_created ON interview_sessions (status, created_ns, id);
CREATE INDEX interview_sessions_status_cost    ON interview_sessions (status, cost_ue, id);
CREATE INDEX interview_sessions_since          ON interview_sessions (since_ns, id);
CREATE INDEX interview_sessions_cost           ON interview_sessions (cost_ue, id);

ALTER TABLE interview_calls
  ADD COLUMN day      text COLLATE "C" NOT NULL DEFAULT '', -- UTC
  ADD COLUMN currency text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN cost     double precision; -- NULL if it is unknown
UPDATE interview_calls c SET
  day = coalesce(to_char((b.body ->> 'at')::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD'), ''),
  currency = coalesce(split_part(b.body ->> 'cost', ' ', 2), ''),
  cost = split_part(b.body ->> 'cost', ' ', 1)::double precision
FROM (SELECT session, n, replace(body::text, '\u0000', '\u0020')::json AS body FROM interview_calls) b
WHERE b.session = c.session AND b.n = c.n;
CREATE INDEX interview_calls_day ON interview_calls (day, currency, cost);
