package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Errors of Reopen and Begin.
var (
	// ErrFinished is returned for a run whose work is done.
	ErrFinished = errors.New("its work is done")
	// ErrBusy is returned for a run that another process executes.
	ErrBusy = run.ErrBusy
)

// Paused is a run that can be continued. Nobody else can continue it before Begin or Close.
type Paused struct {
	*Record
	transcript *run.Transcript
}

// Reopen reads the transcript of a run that did not end with its work done.
func Reopen(path string) (*Paused, error) {
	record := &Record{Path: path}
	transcript, err := run.ContinueTranscript(path, record.add)
	if err != nil {
		return nil, fmt.Errorf("continue a run: %w", err)
	}
	p := &Paused{Record: record, transcript: transcript}
	if err := p.resumable(); err != nil {
		return nil, errors.Join(fmt.Errorf("continue the run of %s: %w", path, err), transcript.Close())
	}
	return p, nil
}

func (p *Paused) resumable() error {
	if err := p.check(); err != nil {
		return err
	}
	if p.Result != nil && p.Result.Status == loop.StatusDone {
		return fmt.Errorf("%w; to see it: rehearse report %s", ErrFinished, format.ShellLine(p.Path))
	}
	if name := p.hidden(); name != "" {
		return fmt.Errorf("the transcript does not have the secrets in its %s; begin a new run", name)
	}
	return nil
}

// Options returns the settings of the run as options, which the options of the new process override.
func (p *Paused) Options() (loop.Options, error) {
	var o loop.Options
	data, err := json.Marshal(p.Settings)
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err != nil {
		return o, fmt.Errorf("read the settings of %s: %w", p.Path, err)
	}
	o.UnchangedLimit = &p.Settings.UnchangedLimit // 0 is not in the file
	o.Contract = cmp.Or(p.Settings.Contract, loop.NoContract)
	return o, nil
}

// Begin continues the run with settings, and with the answer of a person if the agent asked for one.
func (p *Paused) Begin(tool string, s loop.Settings, job Job, answer string, o Output) (*Session, error) {
	if err := p.permits(s, answer); err != nil {
		return nil, fmt.Errorf("continue the run of %s: %w", p.Path, err)
	}
	session := &Session{settings: s, job: job, transcript: p.transcript, past: &p.past, out: o}
	p.segment().Answer = answer
	return session, session.write(session.header(lineContinue, tool, answer))
}

// Close releases a run that was not begun.
func (p *Paused) Close() error { return p.transcript.Close() }

// permits returns an error if the run would end at once, because the limit that ended it is unchanged or
// the question of the agent has no answer.
func (p *Paused) permits(s loop.Settings, answer string) error {
	asked := p.Result != nil && asksPerson(*p.Result)
	switch {
	case asked && answer == "":
		return errors.New("the agent waits for a person; give the answer with --answer")
	case !asked && answer != "":
		return errors.New("--answer is for an agent that waits for a person, and this one does not")
	case p.Result == nil || !slices.Contains(limitGuards, p.Result.Guard):
		return nil
	}
	before, after := limitOf(p.Settings, p.Result.Guard), limitOf(s, p.Result.Guard)
	if after.value > before.value || after.value == 0 && p.Result.Guard != "continuation_limit" {
		return nil
	}
	return fmt.Errorf("it ended at its limit %s; raise that with %s", p.Result.Guard, after.flag)
}

// asksPerson reports whether the agent handed over to a person.
func asksPerson(r loop.Result) bool { return r.Status == loop.StatusBlocked && r.Guard == "" }

// limitGuards are the limits that end a run again unless they are raised. Others are about a series, which
// begins anew.
var limitGuards = []string{"max_iterations", "timeout", "budget.calls", "budget.tokens", "budget.cost", "continuation_limit", "check_limit"}

// limit is the value of a limit with the flag that sets it.
type limit struct {
	flag  string
	value float64
}

func limitOf(s loop.Settings, guard string) limit {
	switch guard {
	case "max_iterations":
		return limit{"--max-iterations", float64(s.MaxIterations)}
	case "timeout":
		return limit{"--timeout", s.Timeout.Std().Seconds()}
	case "budget.calls":
		return limit{"--max-calls", float64(s.Budget.Calls)}
	case "budget.tokens":
		return limit{"--max-tokens", float64(s.Budget.Tokens)}
	case "budget.cost":
		return limit{"--max-cost", s.Budget.Cost.Amount}
	case "check_limit":
		return limit{"--check-limit", float64(s.CheckLimit)}
	default:
		return limit{"--continuation-limit", float64(s.ContinuationLimit)}
	}
}

// Latest returns the transcript of the latest run in a folder.
func Latest(folder string) (string, error) {
	found, err := filepath.Glob(filepath.Join(folder, transcriptKind+"-*.jsonl")) // sorted; the names begin with the time
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("there is no run to continue in %s; name its transcript", folder)
	}
	return found[len(found)-1], nil
}
