-- +goose Up
-- Columns are what queries select by or show in lists; everything else is JSON. Times are
-- nanoseconds since 1970, UTC; 0 is unknown.
CREATE TABLE history_runs (
  seq       INTEGER PRIMARY KEY,
  id        TEXT    NOT NULL UNIQUE,
  at_ns     INTEGER NOT NULL, -- orders the runs, by the clock of the database
  began_ns  INTEGER NOT NULL, -- by the clock of the machine
  ended_ns  INTEGER NOT NULL,
  variant   TEXT    NOT NULL,
  commit_id TEXT    NOT NULL,
  branch    TEXT    NOT NULL,
  dirty     INTEGER NOT NULL,
  prices    TEXT    NOT NULL,
  sha256    TEXT    NOT NULL, -- of the recording
  verdict   TEXT    NOT NULL,
  pass      INTEGER NOT NULL, -- scenarios
  fail      INTEGER NOT NULL,
  error     INTEGER NOT NULL,
  skip      INTEGER NOT NULL,
  trials    INTEGER NOT NULL,
  cost_eur  REAL,             -- NULL is unknown
  body      TEXT    NOT NULL
) STRICT;
CREATE INDEX history_runs_at     ON history_runs (at_ns);
CREATE INDEX history_runs_branch ON history_runs (branch, at_ns);
CREATE INDEX history_runs_commit ON history_runs (commit_id);
CREATE INDEX history_runs_sha256 ON history_runs (sha256);

CREATE TABLE history_scenarios (
  id      INTEGER PRIMARY KEY,
  name    TEXT NOT NULL,
  variant TEXT NOT NULL,
  UNIQUE (name, variant)
) STRICT;

-- Equal results of many runs are stored once.
CREATE TABLE history_outcomes (
  id        INTEGER PRIMARY KEY,
  sha256    TEXT    NOT NULL UNIQUE, -- of the body
  digest    TEXT    NOT NULL,        -- of the scenario's files
  settings  TEXT    NOT NULL,        -- hash of expectations and settings
  real_time INTEGER NOT NULL,
  body      TEXT    NOT NULL
) STRICT;

CREATE INDEX history_outcomes_settings ON history_outcomes (settings);

CREATE TABLE history_measures (
  outcome INTEGER NOT NULL REFERENCES history_outcomes ON DELETE CASCADE,
  name    TEXT    NOT NULL,
  unit    TEXT    NOT NULL,
  known   INTEGER NOT NULL, -- 0: value is a lower bound
  value   REAL,             -- mean over the trials; NULL if no trial has a value
  lo      REAL,             -- confidence interval of the mean
  hi      REAL,
  n       INTEGER NOT NULL, -- trials with a value
  alike   INTEGER NOT NULL, -- whether all trials have this value
  PRIMARY KEY (outcome, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE history_results (
  run      INTEGER NOT NULL REFERENCES history_runs ON DELETE CASCADE,
  scenario INTEGER NOT NULL REFERENCES history_scenarios,
  outcome  INTEGER NOT NULL REFERENCES history_outcomes,
  verdict  TEXT    NOT NULL,
  pass     INTEGER NOT NULL, -- trials
  fail     INTEGER NOT NULL,
  error    INTEGER NOT NULL,
  skip     INTEGER NOT NULL,
  PRIMARY KEY (run, scenario)
) STRICT, WITHOUT ROWID;
CREATE INDEX history_results_scenario ON history_results (scenario, run);
CREATE INDEX history_results_outcome  ON history_results (outcome);
