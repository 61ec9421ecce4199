-- +goose Up
-- What remains of deleted sessions: hashes of their ids, which are not used again, and sums of their calls.
CREATE TABLE interview_deleted (
  hash text COLLATE "C" PRIMARY KEY -- SHA-256 of the id, in hexadecimal
);

CREATE TABLE interview_totals (
  day      text   COLLATE "C" NOT NULL, -- UTC
  model    text   COLLATE "C" NOT NULL,
  currency text   COLLATE "C" NOT NULL,
  calls    bigint  NOT NULL,
  unpriced bigint  NOT NULL,
  input    bigint  NOT NULL,
  output   bigint  NOT NULL,
  cost     double precision NOT NULL,
  PRIMARY KEY (day, model, currency)
);

CREATE TABLE interview_secrets (
  name  text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);
