package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/internal/jsonl"
	"github.com/rehearse-dev/rehearse/redact"
)

const (
	// historyName is the file of the state folder with a line for each decision. When it reaches
	// maxHistory bytes, it replaces the file olderName.
	historyName = "history.jsonl"
	olderName   = "history.1.jsonl"
	maxHistory  = 4 << 20
	// maxHistoryText limits the message in an entry, and maxEntry the entry, in bytes; maxRules limits
	// its rules.
	maxHistoryText = 8 << 10
	maxEntry       = 64 << 10
	maxRules       = 20
)

// Entry is one decision of the guard. It has no text of the message, unless Config.LogText is set.
type Entry struct {
	Time time.Time `json:"time"`
	Host Host      `json:"host"`
	// Session and Message are hashes; Message is empty if there was none.
	Session string `json:"session"`
	Message string `json:"message,omitempty"`
	// Decision is what was decided, such as "blocked"; Refused is true if the verdict alone asks for a
	// refusal.
	Decision string `json:"decision"`
	Refused  bool   `json:"refused,omitempty"`
	Subagent bool   `json:"subagent,omitempty"`
	// The other fields are those of the verdict, if there is one.
	Policy        stop.Policy            `json:"policy,omitempty"`
	Class         stop.Class             `json:"class,omitempty"`
	Score         float64                `json:"score,omitempty"`
	Probabilities map[stop.Class]float64 `json:"probabilities,omitempty"`
	// Rules are the ids of the rules that found announced work.
	Rules    []string `json:"rules,omitempty"`
	Steps    int      `json:"steps,omitempty"`
	Language string   `json:"language,omitempty"`
	// Text is the end of the message without secrets.
	Text string `json:"text,omitempty"`
}

func entryOf(cfg Config, in input, s sighting) Entry {
	e := Entry{
		Time: cfg.Clock.Now().UTC(), Host: in.host, Session: in.key(), Message: s.hash, Decision: string(s.outcome), Subagent: in.subagent,
	}
	v := s.verdict
	if v == nil {
		return e
	}
	e.Refused, e.Policy, e.Class, e.Score, e.Probabilities = !v.MayStop, cfg.Policy, v.Class, v.Score, v.Probabilities
	e.Steps, e.Language = len(v.Steps), v.Language
	for _, d := range v.Detections {
		if d.Real && !slices.Contains(e.Rules, d.Pattern) && len(e.Rules) < maxRules {
			e.Rules = append(e.Rules, d.Pattern)
		}
	}
	if cfg.LogText {
		text := redact.New(redact.SecretsIn(os.Environ())).Text(in.message) //nolint:forbidigo // secrets of this process are hidden
		e.Text = strings.ToValidUTF8(text[max(0, len(text)-maxHistoryText):], "")
	}
	return e
}

// record appends an entry to the history. The caller has locked the folder.
func (s *store) record(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("record the decision: %w", err)
	}
	path := filepath.Join(s.dir, historyName)
	if info, err := os.Lstat(path); err == nil && info.Size()+int64(len(line)) > maxHistory {
		if err := os.Rename(path, filepath.Join(s.dir, olderName)); err != nil {
			return fmt.Errorf("record the decision: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return fmt.Errorf("record the decision: %w", err)
	}
	line = append(line, '\n')
	if torn(file) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = file.Write(line)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("record the decision in %s: %w", path, err)
	}
	return nil
}

// torn reports whether a file ends within a line, which a process that was killed has left.
func torn(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = file.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}

// History is the decisions of the guard in a period.
type History struct {
	// Entries are ordered by time.
	Entries []Entry `json:"entries"`
	// Damaged counts lines that could not be read; they are left out.
	Damaged int `json:"damaged"`
}

// IsHistory reports whether a folder has the history of a guard: its first line is a decision.
func IsHistory(folder string) bool {
	file, err := os.OpenFile(filepath.Join(folder, historyName), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	line, err := jsonl.NewReader(io.LimitReader(file, maxEntry), maxEntry).Next()
	var h History
	if err == nil {
		h.add(line, time.Time{})
	}
	return len(h.Entries) > 0
}

// ReadHistory returns the decisions in a state folder, given as in Config.State, that were made at or after
// since. A missing folder has none.
func ReadHistory(ctx context.Context, folder string, since time.Time) (History, error) {
	dir, err := stateFolder(folder)
	if err != nil {
		return History{}, err
	}
	h := History{Entries: []Entry{}}
	for _, name := range []string{olderName, historyName} {
		if err := h.read(ctx, filepath.Join(dir, name), since); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return History{}, fmt.Errorf("read the history of the guard: %w", err)
		}
	}
	slices.SortStableFunc(h.Entries, func(a, b Entry) int {
		return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.Session, b.Session))
	})
	return h, nil
}

func (h *History) read(ctx context.Context, path string, since time.Time) error {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	lines := jsonl.NewReader(io.LimitReader(file, 2*maxHistory), maxEntry)
	for {
		line, err := lines.Next()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, jsonl.ErrTooLong):
			h.Damaged++
			continue
		case err != nil:
			return err
		}
		h.add(line, since)
	}
}

func (h *History) add(line []byte, since time.Time) {
	if len(strings.TrimSpace(string(line))) == 0 {
		return
	}
	var e Entry
	if json.Unmarshal(line, &e) != nil || e.Time.IsZero() || !slices.Contains(Hosts(), e.Host) || e.Decision == "" {
		h.Damaged++
		return
	}
	if !e.Time.Before(since) {
		h.Entries = append(h.Entries, e)
	}
}
