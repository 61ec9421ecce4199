package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/llm"
)

// transcript is a file of JSON lines: one with the settings, one for each
// iteration and one for the end. Each line is on the disk before the next call: a
// kill loses nothing that was paid for. Secrets are taken out before.
type transcript struct {
	*os.File
	path   string
	redact *redact.Redactor
}

// openTranscript begins the transcript of a run of an agent with a line that says
// what it was given; path is by default a new one for that kind of agent.
func openTranscript(path, agent string, begin func(*transcript) error) (*transcript, error) {
	if path == "" {
		path = filepath.Join(runsFolder, agent+"-"+time.Now().UTC().Format("20060102-150405.000")+".jsonl")
	}
	const hint = "choose another file with --transcript"
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the transcript: %w; %s", err, hint)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin the transcript: %w; %s", err, hint)
	}
	t := &transcript{path: path, File: file, redact: redactor()}
	if err := begin(t); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%w; %s", err, hint)
	}
	return t, nil
}

// redactor takes the secrets of this process's environment out of texts.
func redactor() *redact.Redactor { return redact.New(redact.SecretsIn(os.Environ())) }

// openLoopTranscript begins the transcript of a loop with those settings.
func openLoopTranscript(path string, s loop.Settings) (*transcript, error) {
	return openTranscript(path, "loop", func(t *transcript) error { return t.begin(s) })
}

// begin writes the settings.
func (t *transcript) begin(s loop.Settings) error {
	s.Prompt, s.System, s.ContinuePrompt = t.redact.Text(s.Prompt), t.redact.Text(s.System), t.redact.Text(s.ContinuePrompt)
	return t.line(struct {
		Type     string        `json:"type"`
		Tool     string        `json:"tool"`
		Settings loop.Settings `json:"settings"`
	}{"begin", "rehearse " + toolVersion(), s})
}

// add writes one iteration, which redactEntry returned.
func (t *transcript) add(e loop.Entry) error {
	return t.line(struct {
		Type string `json:"type"`
		loop.Entry
	}{"iteration", e})
}

// end writes how the run ended, as redactResult returned it. The iterations are
// there already.
func (t *transcript) end(r loop.Result) error {
	r.Transcript = nil
	return t.line(struct {
		Type string `json:"type"`
		loop.Result
		Transcript []loop.Entry `json:"transcript,omitempty"`
	}{"end", r, nil})
}

// redactEntry takes the secrets out of an iteration.
func (t *transcript) redactEntry(e loop.Entry) loop.Entry {
	e.Prompt, e.Answer, e.Error = t.redact.Text(e.Prompt), t.redact.Text(e.Answer), t.redact.Text(e.Error)
	e.Denials = t.redactDenials(e.Denials)
	return e
}

// redactDenials takes the secrets out of refused tool calls.
func (t *transcript) redactDenials(denials []llm.Denial) []llm.Denial {
	denials = slices.Clone(denials)
	for i, d := range denials {
		denials[i].Detail = t.redact.Text(d.Detail)
	}
	return denials
}

// redactResult takes the secrets out of a result and its iterations.
func (t *transcript) redactResult(r loop.Result) loop.Result {
	r.Text, r.Summary, r.Details = t.redact.Text(r.Text), t.redact.Text(r.Summary), t.redact.Text(r.Details)
	r.Denials = t.redactDenials(r.Denials)
	r.Transcript = slices.Clone(r.Transcript)
	for i, e := range r.Transcript {
		r.Transcript[i] = t.redactEntry(e)
	}
	return r
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
