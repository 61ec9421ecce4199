package run

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Transcript is a JSONL file with a line for the settings, each iteration and the end. Each line is
// synced to disk before the next call, so that no answer that was paid for is lost. Callers remove
// secrets before they write.
type Transcript struct {
	*os.File
	Path string
}

// CreateTranscript creates a file, which must not exist, with a first line.
func CreateTranscript(path string, first any) (*Transcript, error) {
	const hint = "choose another file with --transcript"
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the transcript: %w; %s", err, hint)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin the transcript: %w; %s", err, hint)
	}
	t := &Transcript{Path: path, File: file}
	if err := t.Append(first); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%w; %s", err, hint)
	}
	return t, nil
}

// Append writes a line.
func (t *Transcript) Append(v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = t.Write(append(data, '\n'))
	}
	if err == nil {
		err = t.Sync()
	}
	if err != nil {
		return fmt.Errorf("write the transcript %s: %w", t.Path, err)
	}
	return nil
}
