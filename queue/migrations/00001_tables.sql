-- +goose Up
CREATE TABLE run (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key            text        NOT NULL UNIQUE,
    plan           jsonb       NOT NULL,
    program        text        NOT NULL, -- SHA-256 of the binary that workers must have
    trials         int         NOT NULL,
    lease_ms       bigint      NOT NULL,
    state          text        NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'stopped', 'cancelled', 'done')),
    epoch          int         NOT NULL DEFAULT 1, -- counts the coordinators
    merged         int         NOT NULL DEFAULT 0,
    began          timestamptz NOT NULL DEFAULT now(),
    beat           timestamptz NOT NULL DEFAULT now()
);

-- A block is a range of trials of the plan: one job, and its result.
CREATE TABLE block (
    run     bigint NOT NULL REFERENCES run ON DELETE CASCADE,
    first   int    NOT NULL, -- from 0
    last    int    NOT NULL,
    job     bigint NOT NULL, -- in river_job
    deaths  int    NOT NULL DEFAULT 0,
    result  bytea,
    digest  text,
    failed  text, -- why there is no result
    took_ms double precision,
    worker  text,
    done    timestamptz,
    PRIMARY KEY (run, first)
);
ALTER TABLE block ALTER result SET STORAGE EXTERNAL; -- it is compressed already
CREATE INDEX block_job ON block (job);

CREATE TABLE worker (
    id      text        PRIMARY KEY,
    host    text        NOT NULL,
    pid     int         NOT NULL,
    program text        NOT NULL,
    slots   int         NOT NULL,
    tags    text[]      NOT NULL,
    began   timestamptz NOT NULL DEFAULT now(),
    beat    timestamptz NOT NULL DEFAULT now()
);

-- What workers report to the coordinator of a run.
CREATE TABLE note (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run    bigint NOT NULL REFERENCES run ON DELETE CASCADE,
    worker text   NOT NULL,
    text   text   NOT NULL,
    UNIQUE (run, worker, text)
);
