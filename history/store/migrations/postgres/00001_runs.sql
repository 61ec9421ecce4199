-- +goose Up
-- Columns are what queries select by or show in lists; everything else is JSON. Times are
-- nanoseconds since 1970, UTC; 0 is unknown.
CREATE TABLE history_runs (
  seq       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id        text COLLATE "C"    NOT NULL UNIQUE,
  at_ns     bigint NOT NULL, -- orders the runs, by the clock of the database
  began_ns  bigint NOT NULL, -- by the clock of the machine
  ended_ns  bigint NOT NULL,
  variant   text COLLATE "C"    NOT NULL,
  commit_id text COLLATE "C"    NOT NULL,
  branch    text COLLATE "C"    NOT NULL,
  dirty     bigint NOT NULL,
  prices    text COLLATE "C"    NOT NULL,
  sha256    text COLLATE "C"    NOT NULL, -- of the recording
  verdict   text COLLATE "C"    NOT NULL,
  pass      bigint NOT NULL, -- scenarios
  fail      bigint NOT NULL,
  error     bigint NOT NULL,
  skip      bigint NOT NULL,
  trials    bigint NOT NULL,
  cost_eur  double precision,             -- NULL is unknown
  body      text COLLATE "C"    NOT NULL
);
CREATE INDEX history_runs_at     ON history_runs (at_ns);
CREATE INDEX history_runs_branch ON history_runs (branch, at_ns);
CREATE INDEX history_runs_commit ON history_runs (commit_id);
CREATE INDEX history_runs_sha256 ON history_runs (sha256);

CREATE TABLE history_scenarios (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name    text COLLATE "C" NOT NULL,
  variant text COLLATE "C" NOT NULL,
  UNIQUE (name, variant)
);

-- Equal results of many runs are stored once.
CREATE TABLE history_outcomes (
  id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sha256    text COLLATE "C"    NOT NULL UNIQUE, -- of the body
  digest    text COLLATE "C"    NOT NULL,        -- of the scenario's files
  settings  text COLLATE "C"    NOT NULL,        -- hash of expectations and settings
  real_time bigint NOT NULL,
  body      text COLLATE "C"    NOT NULL
);

CREATE INDEX history_outcomes_settings ON history_outcomes (settings);

CREATE TABLE history_measures (
  outcome bigint NOT NULL REFERENCES history_outcomes ON DELETE CASCADE,
  name    text COLLATE "C"    NOT NULL,
  unit    text COLLATE "C"    NOT NULL,
  known   bigint NOT NULL, -- 0: value is a lower bound
  value   double precision,             -- mean over the trials; NULL if no trial has a value
  lo      double precision,             -- confidence interval of the mean
  hi      double precision,
  n       bigint NOT NULL, -- trials with a value
  alike   bigint NOT NULL, -- whether all trials have this value
  PRIMARY KEY (outcome, name)
);

CREATE TABLE history_results (
  run      bigint NOT NULL REFERENCES history_runs ON DELETE CASCADE,
  scenario bigint NOT NULL REFERENCES history_scenarios,
  outcome  bigint NOT NULL REFERENCES history_outcomes,
  verdict  text COLLATE "C"    NOT NULL,
  pass     bigint NOT NULL, -- trials
  fail     bigint NOT NULL,
  error    bigint NOT NULL,
  skip     bigint NOT NULL,
  PRIMARY KEY (run, scenario)
);
CREATE INDEX history_results_scenario ON history_results (scenario, run);
CREATE INDEX history_results_outcome  ON history_results (outcome);
