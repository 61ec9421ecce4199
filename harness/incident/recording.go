package incident

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// readRecording reads the trials of recordings. Each is a conversation.
func readRecording(s *source) []Conversation {
	var all []Conversation
	for _, f := range s.files {
		var sc record.Scenario
		for entry, err := range record.Read(bytes.NewReader(f.data)) {
			switch {
			case err != nil:
				s.findings = append(s.findings, Finding{f.name, 0, err.Error()})
			case entry.Problem != nil:
				s.findings = append(s.findings, Finding{f.name, entry.Problem.Line, entry.Problem.Message})
			case entry.Scenario != nil:
				sc = *entry.Scenario
			case entry.Trial != nil && len(entry.Trial.Calls) > 0:
				all = append(all, trialOf(f.name, &sc, entry.Trial))
			}
		}
	}
	return all
}

func trialOf(file string, sc *record.Scenario, trial *record.Trial) Conversation {
	c := Conversation{
		ID: fmt.Sprintf("%s#%d", trial.Head.Scenario, trial.Head.N), File: file, Agent: sc.Agent, Scenario: sc.File, Servers: sc.Where["mcp"] > 0,
		ServerCalls: serverCalls(trial),
	}
	exchanges, known := trial.ByCall()
	for i := range trial.Calls {
		t := callTurn(trial, &trial.Calls[i])
		if known && t.Failure != nil {
			t.Failure.injected(exchanges[i])
		}
		c.Turns = append(c.Turns, t)
	}
	kind, name := record.Turn{}.Event()
	for _, e := range trial.Events {
		if e.Kind != kind || e.Name != name {
			continue
		}
		var turn record.Turn
		if raw, err := json.Marshal(e.Attrs); err == nil && json.Unmarshal(raw, &turn) == nil && turn.User != "" {
			c.Users = append(c.Users, turn.User)
		}
	}
	switch external := len(c.Users) > 0; {
	case !external:
		c.derive()
		c.Done = false
	case trial.End.Status == scenarios.AppDone:
		c.Done = true
	default:
		c.Notes = append(c.Notes, fmt.Sprintf("The recorded run ended with the status %s.", trial.End.Status))
	}
	retries := 0
	for i := range trial.Calls {
		retries += len(trial.Calls[i].Retries)
	}
	if retries > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d failed attempts that the agent's client repeated are left out.", retries))
	}
	c.EachAttempt = retries == 0
	return c
}

// injected notes the fault that caused the failure, if it took effect on the last of the exchanges of the call.
func (f *Failure) injected(exchanges []record.Exchange) {
	if last := exchanges[len(exchanges)-1]; last.Fired {
		f.Fault, f.Status = last.Fault, last.Status
	}
}

func callTurn(trial *record.Trial, call *record.Call) Turn {
	t := Turn{Missing: true}
	t.Began = t.Began.Add(call.At)
	t.Ended = t.Began.Add(call.Latency)
	for _, id := range call.Messages {
		if m, ok := trial.Message(id); ok {
			t.Messages = append(t.Messages, m.Message)
		}
	}
	if call.Error != nil {
		t.Failure = &Failure{Status: call.Error.Status, Message: call.Error.Message}
	}
	if m, ok := trial.Message(call.Reply); ok && call.Reply != "" {
		t.Reply.Text, t.Reply.ToolCalls, t.Missing = m.Content, slices.Clone(m.ToolCalls), false
	}
	t.Reply.Model, t.Reply.Finish, t.Reply.Usage = call.Model, call.Finish, call.Usage
	return t
}
