-- +goose Up
-- The calls of each day and their cost, of all addresses (address '') and of each one (a keyed hash).
CREATE TABLE interview_spending (
  day       TEXT    NOT NULL, -- UTC
  address   TEXT    NOT NULL,
  calls     INTEGER NOT NULL,
  micro_eur INTEGER NOT NULL,
  PRIMARY KEY (day, address)
) STRICT, WITHOUT ROWID;
