-- +goose Up
-- The kind of a run: 'run' and 'merge' have comparable results.
ALTER TABLE history_runs ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'run';
