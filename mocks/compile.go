package mocks

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/internal/boundedtemplate"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Program is a compiled script. It is immutable and can be shared by all trials of a scenario.
type Program struct {
	script Script
	lines  []line
	// sequence is true for replies and false for rules.
	sequence bool
	initial  string // state
	rules    wire.Rules

	moderations []compiledModeration
	storage     []storageFault
}

// line is one line of a script, compiled.
type line struct {
	*Line
	name       string // "replies[0]"
	conditions []condition
	// own is the answer of a line without choices.
	own     reply
	choices []choice
	// limit is how often the line answers, faultTimes how often its fault fires; 0 means no
	// limit.
	limit, faultTimes int
}

// reply is an answer, compiled.
type reply struct {
	*Answer
	name     string // "replies[0]", "rules[1].one_of[2]"
	template *boundedtemplate.Template
	calls    []llm.ToolCall
	captured *captured
	media    *wire.Media // nil for generated media
	fault    wire.Fault
	// onlyFault is true for a fault without an answer.
	onlyFault bool
}

// Compile compiles a script. Its files must be loaded. The error joins all problems of an invalid
// script.
func Compile(s Script) (*Program, error) {
	if problems := s.Validate(); len(problems) > 0 {
		errs := make([]error, len(problems))
		for i, p := range problems {
			errs[i] = errors.New(p.String())
		}
		return nil, fmt.Errorf("compile the script: %w", errors.Join(errs...))
	}
	p := &Program{script: s, sequence: len(s.Replies) > 0, initial: s.State}
	p.rules = wire.Rules{Relax: s.Relax, Demand: s.Strict, Model: s.Model}
	var err error
	if p.moderations, err = compileModerations(s.Moderations); err != nil {
		return nil, fmt.Errorf("compile the script: %w", err)
	}
	if p.storage, err = compileStorage(s.Storage); err != nil {
		return nil, fmt.Errorf("compile the script: %w", err)
	}
	for _, set := range s.sets() {
		for i := range set.lines {
			l, err := compileLine(fmt.Sprintf("%s[%d]", set.name, i), &set.lines[i], p.sequence)
			if err != nil {
				return nil, fmt.Errorf("compile the script: %s: %w", l.name, err)
			}
			p.lines = append(p.lines, l)
		}
	}
	return p, nil
}

func compileLine(name string, source *Line, sequence bool) (l line, err error) {
	l = line{Line: source, name: name, limit: source.Times, faultTimes: source.faultTimes()}
	if l.conditions, err = source.When.conditions(); err != nil {
		return l, err
	}
	if l.own, err = compileReply(name, &source.Answer); err != nil {
		return l, err
	}
	if l.choices, err = compileChoices(name, source); err != nil {
		return l, err
	}
	l.conditions = append(l.conditions, l.outputConditions()...)
	l.setLimits(sequence)
	return l, nil
}

func compileReply(name string, source *Answer) (r reply, err error) {
	r = reply{Answer: source, name: name}
	if source.File != "" {
		return r, fmt.Errorf("the file %q is not loaded; call Script.Load first", source.File)
	}
	if source.Template != "" {
		if r.template, err = parseTemplate(source.Template); err != nil {
			return r, err
		}
	}
	if r.captured, err = source.Frames.compile(); err != nil {
		return r, err
	}
	if r.media, err = source.Media.compile(); err != nil {
		return r, err
	}
	for _, c := range source.ToolCalls {
		arguments, err := json.Marshal(c.Arguments)
		if err != nil {
			return r, fmt.Errorf("arguments of tool %s: %w", c.Name, err)
		}
		if c.Arguments == nil {
			arguments = []byte("{}")
		}
		r.calls = append(r.calls, llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: string(arguments)})
	}
	if source.Fault != nil {
		r.onlyFault = !source.answers()
		// The scripted command-line agent builds process faults.
		if !slices.Contains(ProcessFaults(), source.Fault.Kind) {
			if r.fault, err = wire.NewFault(source.Fault.spec()); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// setLimits sets the limits of a line of a sequence, and of a line that is only a fault.
func (l *line) setLimits(sequence bool) {
	if l.own.onlyFault {
		l.limit = cmp.Or(l.Times, l.Fault.Times)
		l.faultTimes = 0
	}
	if sequence {
		l.limit = max(l.limit, 1)
	}
}

// PlannedFault is a fault of a script that must fire Times times.
type PlannedFault struct {
	Line  string // "replies[0]"
	Kind  string
	Times int
}

// PlannedFaults returns the faults in the order of the script.
func (p *Program) PlannedFaults() []PlannedFault {
	var planned []PlannedFault
	for _, l := range p.lines {
		if l.Fault != nil {
			planned = append(planned, PlannedFault{Line: l.name, Kind: l.Fault.Kind, Times: l.Line.faultTimes()})
		}
	}
	for i := range p.storage {
		f := &p.storage[i]
		planned = append(planned, PlannedFault{Line: f.name, Kind: f.Fault.Kind, Times: f.times()})
	}
	return planned
}
