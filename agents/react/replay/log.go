// Package replay records what a run of a ReAct agent got from outside: the replies of the model, the results
// of actions, and the answers of a person. A run that ended early is continued by repeating it with the same
// agent and task: the recorded values are returned first, in their order, and nothing is called for them.
//
// An action is recorded before it begins and after it ends. If a run was killed in between, an action that
// only reads is done again; any other one fails with the rule "interrupted", and the agent must find out what
// it did. A call of the model that was not answered is made again.
package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/llm"
)

// Type is the type of a Record.
type Type string

// The types of a Record.
const (
	Reply  Type = "reply"  // of the model
	Action Type = "action" // that begins
	Result Type = "result" // of the action before
	Answer Type = "answer" // of a person
)

// Record is one value from outside. Only the field of its type is set.
type Record struct {
	Type   Type           `json:"type"`
	Reply  *llm.Reply     `json:"reply,omitempty"`
	Action *Begun         `json:"action,omitempty"`
	Result *action.Result `json:"result,omitempty"`
	Answer *Answered      `json:"answer,omitempty"`
}

// Begun is an action that begins.
type Begun struct {
	ID    string `json:"id"`
	Input string `json:"input,omitempty"`
}

// Answered is a question with the answer of a person.
type Answered struct {
	Question string `json:"question"`
	Text     string `json:"text"`
}

// RuleInterrupted is the rule of an action that was under way when a run was killed.
const RuleInterrupted = "interrupted"

// ErrDiverged is wrapped by the errors of a run that does not repeat the recorded one.
var ErrDiverged = errors.New("the run does not repeat the recorded one; " +
	"the agent, its actions or the program have changed: start a new run")

// Log plays records and then records. It is for one run, which must not use it from several goroutines.
type Log struct {
	// Write stores a record durably. An error ends the run.
	Write func(Record) error
	// Given, if not empty, is the answer to the first question that has none.
	Given string

	mu     sync.Mutex
	played []Record // still to play
	broken error
}

// New returns a log that plays records first.
func New(played []Record, write func(Record) error) *Log {
	return &Log{Write: write, played: slices.Clone(played)}
}

// Playing reports whether there are records to play.
func (l *Log) Playing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.played) > 0
}

// next returns the next record if it has a type, or nil if all are played.
func (l *Log) next(t Type) (*Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.played) == 0 {
		return nil, l.broken
	}
	r := l.played[0]
	if r.Type != t {
		return nil, fmt.Errorf("%w (recorded: %s, now: %s)", ErrDiverged, r.Type, t)
	}
	l.played = l.played[1:]
	return &r, nil
}

func (l *Log) add(r Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken == nil {
		l.broken = l.Write(r)
	}
	return l.broken
}

// Backend returns a backend that plays recorded replies and then records those of b.
func (l *Log) Backend(b llm.Backend) llm.Backend {
	return llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		r, err := l.next(Reply)
		switch {
		case err != nil:
			return llm.Reply{}, &llm.Error{Kind: llm.Failed, Message: err.Error(), Err: err}
		case r != nil && r.Reply != nil:
			return *r.Reply, nil
		}
		reply, err := b.Complete(ctx, req)
		if err != nil {
			return reply, err
		}
		if err := l.add(Record{Type: Reply, Reply: &reply}); err != nil {
			return llm.Reply{}, &llm.Error{Kind: llm.Failed, Message: err.Error(), Err: err}
		}
		return reply, nil
	})
}

// Actions returns actions that play recorded results and then record their own.
func (l *Log) Actions(actions func(*agentfile.Agent) (action.Set, error)) func(*agentfile.Agent) (action.Set, error) {
	return func(a *agentfile.Agent) (action.Set, error) {
		set, err := actions(a)
		if err != nil {
			return nil, err
		}
		return &recorded{Set: set, log: l}, nil
	}
}

// recorded is a set of actions with a log.
type recorded struct {
	action.Set
	log *Log
}

// Do implements action.Set.
func (s *recorded) Do(ctx context.Context, id, input string) (action.Result, error) {
	begun, err := s.log.next(Action)
	switch {
	case err != nil:
		return action.Result{}, err
	case begun == nil:
		if err := s.log.add(Record{Type: Action, Action: &Begun{ID: id, Input: input}}); err != nil {
			return action.Result{}, err
		}
		return s.do(ctx, id, input)
	case begun.Action == nil || begun.Action.ID != id:
		return action.Result{}, fmt.Errorf("%w (another action than %q was recorded)", ErrDiverged, id)
	}
	result, err := s.log.next(Result)
	switch {
	case err != nil:
		return action.Result{}, err
	case result != nil && result.Result != nil:
		return *result.Result, nil
	case action.OnlyReads(id):
		return s.do(ctx, id, input)
	}
	return s.end(action.Result{Failed: true, Rule: RuleInterrupted, Observation: RuleInterrupted + ": the run was stopped while " +
		"this action was under way. It may have been done, in part or not at all: look at its effects before you repeat it."})
}

func (s *recorded) do(ctx context.Context, id, input string) (action.Result, error) {
	result, err := s.Set.Do(ctx, id, input)
	if err != nil {
		return result, err
	}
	return s.end(result)
}

func (s *recorded) end(result action.Result) (action.Result, error) {
	return result, s.log.add(Record{Type: Result, Result: &result})
}

// Person returns a person who plays recorded answers, then has the given one, and then asks p, which may be
// nil.
func (l *Log) Person(p react.Person) react.Person { return &person{l, p} }

type person struct {
	log  *Log
	next react.Person
}

// Ask implements react.Person.
func (p *person) Ask(ctx context.Context, question, about string) (string, bool) {
	if p.log.Playing() {
		r, err := p.log.next(Answer)
		if err == nil && r != nil && r.Answer != nil {
			return r.Answer.Text, true
		}
		return "", false // the recorded run had no answer here
	}
	text, ok := p.log.given()
	if !ok && p.next != nil {
		text, ok = p.next.Ask(ctx, question, about)
	}
	if !ok {
		return "", false
	}
	return text, p.log.add(Record{Type: Answer, Answer: &Answered{question, text}}) == nil
}

// given returns the given answer once.
func (l *Log) given() (string, bool) {
	text := l.Given
	l.Given = ""
	return text, text != ""
}
