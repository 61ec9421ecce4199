-- +goose Up
-- The caps on the calls of live models of a run, and what they used. A hold is the most that a call can
-- cost that has not ended.
CREATE TABLE meter (
    run         bigint  PRIMARY KEY REFERENCES run ON DELETE CASCADE,
    cap_calls   int     NOT NULL DEFAULT 0, -- 0: no cap
    cap_usd     numeric NOT NULL DEFAULT 0, -- 0: no cap
    max_output  int     NOT NULL DEFAULT 0, -- tokens; 0: the provider's limit
    gap_ms      double precision NOT NULL DEFAULT 0, -- the least time between two requests to a provider
    calls       int     NOT NULL DEFAULT 0,
    spent       numeric NOT NULL DEFAULT 0,
    held        numeric NOT NULL DEFAULT 0,
    refused     text, -- why a call was refused: calls, cost or price
    refused_for text,
    refused_usd numeric
);

CREATE TABLE hold (
    id     text    PRIMARY KEY,
    run    bigint  NOT NULL REFERENCES meter ON DELETE CASCADE,
    worker text    NOT NULL,
    amount numeric NOT NULL
);
CREATE INDEX hold_run ON hold (run);

-- When a provider may be called next, over all runs.
CREATE TABLE pace (
    provider   text        PRIMARY KEY,
    next       timestamptz NOT NULL DEFAULT '-infinity',
    not_before timestamptz NOT NULL DEFAULT '-infinity'
);
