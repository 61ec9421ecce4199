package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

// journalSchema identifies the format of journals: lines of JSON, first the heading, then the
// trials in plan order, with the losses of interruptions between them, and last how a cap ended the
// experiment.
const journalSchema = "rehearse.experiment-journal/1"

// heading identifies the experiment of a journal.
type heading struct {
	Schema string `json:"schema"`
	Digest string `json:"digest"`
	Prices string `json:"prices"`
	Tool   string `json:"tool,omitempty"`
	Calls  int    `json:"max_calls,omitempty"`
	Cost   string `json:"max_cost,omitempty"`
}

// outcome is the result of a trial.
type outcome struct {
	Variant  string       `json:"variant"`
	Scenario string       `json:"scenario"`
	Trial    int          `json:"trial"`
	Verdict  gate.Verdict `json:"verdict"`
	// Values contains the known measures, Unknown the reasons why others are unknown.
	Values  map[string]float64 `json:"values,omitempty"`
	Unknown map[string]string  `json:"unknown,omitempty"`
	Used    result.Used        `json:"used"`
	// Why explains why the trial was skipped, or has no verdict.
	Why string `json:"why,omitempty"`
	// Answer is the hash of the answer in the file of answers, and Reasons explain its scores.
	Answer  string          `json:"answer,omitempty"`
	Reasons []result.Reason `json:"reasons,omitempty"`

	line int // of the journal
}

// lost is the use of interrupted trials of live models. They are repeated, but their use counts
// towards the caps.
type lost struct {
	Lost result.Used `json:"lost"`
}

// found is the content of a journal.
type found struct {
	done []outcome
	lost []lost
	end  *capped // nil if no cap ended the experiment
}

// capped records that a cap ended the experiment.
type capped struct {
	Capped string `json:"capped"`
	// Used is the use of the interrupted trial.
	Used result.Used `json:"used"`
}

// JournalError reports a journal of another experiment. Nothing was run.
type JournalError struct{ error }

// journal stores the results of an experiment so far, so that it can be resumed after a
// crash. The zero value stores nothing.
type journal struct {
	path string
	file *os.File
	log  *jsonl.Log // nil: nothing is stored
}

// maxLine limits the length of a journal line, in bytes.
const maxLine = 1 << 20

// openJournal opens or creates a journal and reads its content. A torn last line is dropped.
func openJournal(path string, want heading) (*journal, found, error) {
	if path == "" {
		return &journal{}, found{}, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, found{}, fmt.Errorf("open the journal of the experiment: %w", err)
	}
	j := &journal{path: path, file: file}
	was, err := j.read(want)
	if err != nil {
		_ = file.Close()
		return nil, found{}, err
	}
	return j, was, nil
}

// read reads the journal, and writes its heading if it is empty.
func (j *journal) read(want heading) (was found, err error) {
	lines, size, err := j.lines()
	if err != nil {
		return was, err
	}
	if len(lines) == 0 {
		if err := j.resume(0); err != nil {
			return was, err
		}
		if err := j.append(want); err != nil {
			return was, err
		}
		return was, j.sync()
	}
	var is heading
	if err := json.Unmarshal(lines[0], &is); err != nil || is.Schema != journalSchema {
		return was, &JournalError{fmt.Errorf("%s is not a journal of an experiment; choose another folder, or remove the file", j.path)}
	}
	if is != want {
		return was, &JournalError{fmt.Errorf("%s is the journal of another experiment: %s; "+
			"choose another folder, or remove the file to start over", j.path, difference(is, want))}
	}
	for n, line := range lines[1:] {
		if was.end != nil {
			return was, fmt.Errorf("%s:%d: a line after the end of the experiment", j.path, n+2)
		}
		if err := was.add(line, n+2); err != nil {
			return was, fmt.Errorf("%s:%d: %w", j.path, n+2, err)
		}
	}
	return was, j.resume(size)
}

func (f *found) add(line []byte, number int) error {
	switch {
	case bytes.HasPrefix(line, []byte(`{"capped"`)):
		f.end = &capped{}
		return json.Unmarshal(line, f.end)
	case bytes.HasPrefix(line, []byte(`{"lost"`)):
		f.lost = append(f.lost, lost{})
		return json.Unmarshal(line, &f.lost[len(f.lost)-1])
	default:
		f.done = append(f.done, outcome{line: number})
		return json.Unmarshal(line, &f.done[len(f.done)-1])
	}
}

// difference describes how the headings differ.
func difference(is, want heading) string {
	switch {
	case is.Tool != want.Tool:
		return fmt.Sprintf("it was made by %s, but this program is %s", is.Tool, want.Tool)
	case is.Prices != want.Prices:
		return fmt.Sprintf("it was made with the prices of %s, but the current ones are of %s", is.Prices, want.Prices)
	case is.Calls != want.Calls || is.Cost != want.Cost:
		return "its caps differ"
	default:
		return "the experiment's file, a scenario or a text of a variant has changed since"
	}
}

// lines returns the complete lines of the journal and their size in bytes.
func (j *journal) lines() (lines [][]byte, size int64, err error) {
	in := jsonl.NewReader(j.file, maxLine)
	damaged := 0
	for {
		line, err := in.Next()
		switch {
		case errors.Is(err, io.EOF), err == nil && in.Torn():
			return lines, size, nil // a damaged last line was torn, too: its blocks were written out of order
		case damaged > 0:
			return nil, 0, fmt.Errorf("%s:%d: the line is damaged; remove the file to start over", j.path, damaged)
		case errors.Is(err, jsonl.ErrTooLong):
			return nil, 0, fmt.Errorf("%s:%d: %w", j.path, in.Line(), err)
		case err != nil:
			return nil, 0, fmt.Errorf("read %s: %w", j.path, err)
		case !json.Valid(line):
			damaged = in.Line()
			continue
		}
		lines, size = append(lines, bytes.Clone(line)), in.Offset()
	}
}

// resume removes the remains of a crash after size bytes, and prepares to append.
func (j *journal) resume(size int64) error {
	j.log = jsonl.NewLog(j.file, size, 0)
	if err := j.log.Cut(); err != nil {
		return fmt.Errorf("remove the remains of a crash from %s: %w", j.path, err)
	}
	return nil
}

// append adds a line, which sync makes durable.
func (j *journal) append(line any) error {
	if j.log == nil {
		return nil
	}
	data, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("encode a line of the journal: %w", err)
	}
	if err := j.log.Append(append(data, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", j.path, atomicdir.Explain(err))
	}
	return nil
}

// sync makes all lines durable.
func (j *journal) sync() error {
	if j.log == nil {
		return nil
	}
	if err := j.log.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", j.path, atomicdir.Explain(err))
	}
	return nil
}

// close makes all lines durable and closes the file.
func (j *journal) close() error { return closeLog(j.log, j.path) }

// closeLog closes a log, which may be nil or closed already.
func closeLog(log *jsonl.Log, path string) error {
	if log == nil {
		return nil
	}
	if err := log.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("close %s: %w", path, atomicdir.Explain(err))
	}
	return nil
}
