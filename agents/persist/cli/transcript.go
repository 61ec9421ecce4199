package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/redact"
)

// attemptsFolder is the folder of the transcripts in the folder of the state.
const attemptsFolder = "attempts"

// maxTranscript is the largest transcript of an attempt, in bytes.
const maxTranscript = 8 << 20

// transcriptName returns the name of the transcript of an attempt. Ids of tasks are valid names, and
// the last number is the attempt.
func transcriptName(task string, attempt int) string {
	return task + "-" + strconv.Itoa(attempt) + ".jsonl"
}

// transcripts writes a file for each attempt beside the journal: a line of JSON for each entry, without
// secrets. A file that cannot be written does not end the attempt; the first error is reported.
type transcripts struct {
	state  string // the folder of the state
	redact *redact.Redactor
	now    func() time.Time
	warn   func(string)
	once   sync.Once
}

// begin opens the transcript of an attempt, or continues it if a crash cut it off. The returned functions
// add an entry and close the file.
func (t *transcripts) begin(a persist.Assignment) (log func(persist.Entry), done func()) {
	file, err := t.open(transcriptName(a.Task.ID, a.Attempt))
	if err != nil {
		t.failed(err)
		return func(persist.Entry) {}, func() {}
	}
	var mu sync.Mutex
	full := false
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		t.failed(err)
		full = true
	}
	log = func(e persist.Entry) {
		mu.Lock()
		defer mu.Unlock()
		if full {
			return
		}
		e.At = t.now()
		line := t.line(e)
		if size+int64(len(line)) > maxTranscript {
			full = true
			line = t.line(persist.Entry{Kind: "cut", At: e.At, Details: "the transcript would exceed 8 MiB"})
		}
		n, err := file.Write(line)
		size += int64(n)
		if err != nil {
			t.failed(err)
			full = true
		}
	}
	begin := persist.Entry{Kind: "begin", Key: a.Key, Name: a.Task.Worker(), Text: a.Prompt}
	if a.Session != nil {
		begin.Text, begin.Details = a.Turn, fmt.Sprintf("continues the session %s of %s", a.Session.ID, a.Session.Agent)
	}
	log(begin)
	return log, func() {
		mu.Lock()
		defer mu.Unlock()
		full = true
		if err := file.Close(); err != nil {
			t.failed(err)
		}
	}
}

// open opens a transcript for appending. A line that a crash cut off gets its end.
func (t *transcripts) open(name string) (*os.File, error) {
	root, err := os.OpenRoot(t.state)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	if err := root.Mkdir(attemptsFolder, 0o700); err != nil && !os.IsExist(err) {
		return nil, err
	}
	path := attemptsFolder + "/" + name
	torn := false
	if before, err := root.Open(path); err == nil {
		last := make([]byte, 1)
		if info, err := before.Stat(); err == nil && info.Size() > 0 {
			_, err = before.ReadAt(last, info.Size()-1)
			torn = err == nil && last[0] != '\n'
		}
		_ = before.Close()
	}
	file, err := root.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil && torn {
		_, err = file.WriteString("\n")
	}
	return file, err
}

// line returns an entry as a line without secrets.
func (t *transcripts) line(e persist.Entry) []byte {
	data, err := json.Marshal(e)
	if err != nil { // no entry has a value that JSON does not know
		data, _ = json.Marshal(persist.Entry{Kind: e.Kind, At: e.At, Details: "cannot be written: " + err.Error()})
	}
	return append([]byte(t.redact.Text(string(data))), '\n')
}

func (t *transcripts) failed(err error) {
	t.once.Do(func() { t.warn(fmt.Sprintf("warning: write the transcript of an attempt: %v", err)) })
}

// Attempt is the content of the transcript of an attempt.
type Attempt struct {
	Path    string          `json:"-"`
	Entries []persist.Entry `json:"entries"`
}

// ReadAttempt reads the transcript of an attempt, which may be incomplete. It skips a line that a crash cut off.
func ReadAttempt(path string) (*Attempt, error) {
	a := &Attempt{Path: path}
	var damaged error // of the line before
	err := run.ReadTranscript(path, func(line []byte) error {
		var e persist.Entry
		err := json.Unmarshal(line, &e)
		if damaged != nil && (err != nil || e.Kind != "begin") {
			return damaged
		}
		if damaged = err; err != nil {
			damaged = fmt.Errorf("the line is damaged: %w", err)
			return nil
		}
		a.Entries = append(a.Entries, e)
		return nil
	})
	if err == nil && damaged != nil {
		err = fmt.Errorf("read the transcript %s: %w", path, damaged)
	}
	if err == nil && len(a.Entries) == 0 {
		err = fmt.Errorf("read the transcript %s: it has no complete line", path)
	}
	return a, err
}

// IsAttempt reports whether a file begins as the transcript of an attempt.
func IsAttempt(path string) bool { return run.Begins(path, `{"kind":"begin","at":"`, `","key":"`) }

// End returns the last entry if the attempt ended, or nil.
func (a *Attempt) End() *persist.Entry {
	if last := &a.Entries[len(a.Entries)-1]; last.Kind == "end" {
		return last
	}
	return nil
}

// withTranscripts returns the result with the transcripts of the last attempts that exist.
func (j *Job) withTranscripts(r persist.Result) persist.Result {
	tasks := make([]persist.Task, len(r.Tasks))
	for i, t := range r.Tasks {
		path := filepath.Join(j.State, attemptsFolder, transcriptName(t.ID, t.Attempts))
		if info, err := os.Stat(path); t.Attempts > 0 && err == nil && info.Mode().IsRegular() {
			t.Transcript = path
		}
		tasks[i] = t
	}
	r.Tasks = tasks
	return r
}
