-- +goose Up
-- The calls of each day and their cost, of all addresses (address '') and of each one (a keyed hash).
CREATE TABLE interview_spending (
  day       text COLLATE "C" NOT NULL, -- UTC
  address   text COLLATE "C" NOT NULL,
  calls     bigint NOT NULL,
  micro_eur bigint NOT NULL,
  PRIMARY KEY (day, address)
);
