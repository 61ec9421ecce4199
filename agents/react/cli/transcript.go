package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/agents/react/replay"
	"github.com/rehearse-dev/rehearse/llm"
)

// The types of the lines of a transcript, in addition to those of package replay.
const (
	lineBegin     = "begin"
	lineContinue  = "continue"
	lineIteration = "iteration"
	lineEnd       = "end"
)

// Begin is the first line of a transcript: what is needed to continue the run.
type Begin struct {
	Type  string `json:"type"`
	Tool  string `json:"tool"`
	Agent string `json:"agent"`
	// File, Workspace and Agents are the paths of the agent file, the workspace and the folder of the
	// agents to delegate to; absolute in new transcripts.
	File      string `json:"file"`
	Workspace string `json:"workspace"`
	Agents    string `json:"agents,omitempty"`
	// Backend, Command and Model are the flags of the backend.
	Backend string `json:"backend,omitempty"`
	Command string `json:"command,omitempty"`
	Model   string `json:"model,omitempty"`
	// Approve is the approval of the flags.
	Approve agentfile.Approval `json:"approve,omitzero"`
	// Servers are the MCP servers of the flags.
	Servers map[string]agentfile.Server `json:"mcp,omitempty"`
	// Sandbox is true if actions and servers ran in a sandbox.
	Sandbox bool          `json:"sandbox,omitempty"`
	Task    react.Task    `json:"task"`
	Options react.Options `json:"options"`
}

// Past is the content of a transcript.
type Past struct {
	Begin
	// Iterations are all iterations of the run, without repetitions.
	Iterations []react.Entry `json:"transcript"`
	// Result is the result of the last process; nil if it was killed or is running.
	Result *react.Result `json:"result,omitempty"`
	// Processes counts the processes.
	Processes int `json:"processes"`
	records   []replay.Record
}

// ErrFinished is returned for a transcript of a run that cannot be continued, because it is over.
var ErrFinished = errors.New("the run is finished, and there is nothing to continue")

// Read reads the transcript of a run, which may be incomplete.
func Read(path string) (*Past, error) {
	p := &Past{}
	err := run.ReadTranscript(path, p.add)
	if err == nil && p.Agent == "" {
		err = fmt.Errorf("read the transcript %s: it has no complete line", path)
	}
	return p, err
}

// ReadPast reads the transcript of a run that is continued. It returns an error if that is not possible.
func ReadPast(path string) (*Past, error) {
	p := &Past{}
	if err := run.ReadTranscript(path, p.add); err != nil {
		return nil, err
	}
	return p, p.check(path)
}

// IsTranscript reports whether a file begins as the transcript of a ReAct agent.
func IsTranscript(path string) bool {
	return run.Begins(path, `{"type":"`+lineBegin+`",`, `,"agent":"`)
}

// Replies returns the replies of the model, in order.
func (p *Past) Replies() []llm.Reply {
	var all []llm.Reply
	for _, r := range p.records {
		if r.Reply != nil {
			all = append(all, *r.Reply)
		}
	}
	return all
}

// Status returns the status of the last end; empty after a crash.
func (p *Past) Status() react.Status {
	if p.Result == nil {
		return ""
	}
	return p.Result.Status
}

// Finished reports whether the run is over, so that it cannot be continued.
func (p *Past) Finished() bool {
	return slices.Contains([]react.Status{react.StatusDone, react.StatusPartial, react.StatusDelegate}, p.Status())
}

// check returns an error for a transcript that cannot be continued.
func (p *Past) check(path string) error {
	switch {
	case p.Type != lineBegin || p.File == "" || p.Agent == "":
		return fmt.Errorf("continue %s: it is not the transcript of a ReAct agent", path)
	case len(p.records) == 0 && len(p.Iterations) > 0:
		return fmt.Errorf("continue %s: it was written by an older version (%s), which did not record replies", path, p.Tool)
	case p.Finished():
		return fmt.Errorf("continue %s: %w (%s)", path, ErrFinished, p.Status())
	case p.Status() == react.StatusEscalate && len(p.records) == 0:
		return fmt.Errorf("continue %s: it made no call, as required inputs are missing; give them with --input in a new run", path)
	}
	return nil
}

// Waits reports whether the run ended with a question or an obstacle, so that it needs an answer.
func (p *Past) Waits() bool {
	return p.Status() == react.StatusEscalate || p.Status() == react.StatusBlocked
}

// add adds a line. Lines of unknown types are from other versions, and skipped.
func (p *Past) add(line []byte) error {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return fmt.Errorf("the line is not JSON: %w", err)
	}
	if p.Type == "" && head.Type != lineBegin {
		return fmt.Errorf("the first line has the type %q, and a transcript begins with %q", head.Type, lineBegin)
	}
	var err error
	switch replay.Type(head.Type) {
	case lineBegin:
		p.Processes = 1
		err = json.Unmarshal(line, &p.Begin)
	case lineContinue:
		p.Processes++
		p.Result = nil
	case lineIteration:
		var e react.Entry
		err = json.Unmarshal(line, &e)
		p.addIteration(e)
	case lineEnd:
		p.Result = &react.Result{}
		err = json.Unmarshal(line, p.Result)
	case replay.Reply, replay.Action, replay.Result, replay.Answer:
		var r replay.Record
		err = json.Unmarshal(line, &r)
		p.records = append(p.records, r)
	}
	if err != nil {
		return fmt.Errorf("the line of type %q is not valid: %w", head.Type, err)
	}
	return nil
}

// addIteration adds an iteration, in place of an incomplete one that was written when the run ended.
func (p *Past) addIteration(e react.Entry) {
	if n := len(p.Iterations); n > 0 && sameIteration(p.Iterations[n-1], e) {
		p.Iterations[n-1] = e
		return
	}
	p.Iterations = append(p.Iterations, e)
}

// sameIteration reports whether two entries are of one iteration of one agent.
func sameIteration(a, b react.Entry) bool {
	return a.N == b.N && a.Agent == b.Agent && a.Depth == b.Depth
}
