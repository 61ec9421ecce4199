-- +goose Up
-- The kind of a run: 'run' and 'merge' have comparable results.
ALTER TABLE history_runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'run';
