package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// transcript is a file of JSON lines, one for each iteration and one for the end.
// Each line is on the disk before the next call: a kill loses nothing that was
// paid for.
type transcript struct {
	*os.File
	path     string
	redactor *record.Redactor
}

// add writes one iteration.
func (t *transcript) add(e loop.Entry) error {
	redact := t.secrets()
	e.Prompt, e.Answer, e.Error = redact.Text(e.Prompt), redact.Text(e.Answer), redact.Text(e.Error)
	return t.line(struct {
		Type string `json:"type"`
		loop.Entry
	}{"iteration", e})
}

// end writes how the run ended; the iterations are there already.
func (t *transcript) end(r loop.Result) error {
	redact := t.secrets()
	r.Transcript = nil
	r.Text, r.Summary, r.Details = redact.Text(r.Text), redact.Text(r.Summary), redact.Text(r.Details)
	return t.line(struct {
		Type string `json:"type"`
		loop.Result
	}{"end", r})
}

func (t *transcript) line(v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = t.Write(append(data, '\n'))
	}
	if err == nil {
		err = t.Sync()
	}
	if err != nil {
		return fmt.Errorf("write the transcript %s: %w", t.path, err)
	}
	return nil
}

func (t *transcript) secrets() *record.Redactor {
	if t.redactor == nil {
		t.redactor = record.NewRedactor(record.SecretsIn(os.Environ()))
	}
	return t.redactor
}
