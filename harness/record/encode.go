package record

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// The types of lines. A reader tolerates unknown types.
const (
	kindRun      = "run"
	kindScenario = "scenario"
	kindTrial    = "trial"
	kindMessage  = "message"
	kindCall     = "call"
	kindExchange = "exchange"
	kindEvent    = "event"
	kindScript   = "script"
	kindEnd      = "end"
	kindClose    = "close"
)

// options are the semantics of encoding/json, but without HTML escaping and with exact
// member names. Text that is not UTF-8 is stored with U+FFFD and never makes a recording
// fail.
var options = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	jsontext.EscapeForHTML(false),
	jsontext.EscapeForJS(false),
	json.MatchCaseInsensitiveNames(false),
)

// Encode returns the lines of a trial, without hashes. It is pure, so workers can call it in
// parallel; only Writer.Trial must be serial.
func Encode(t Trial) ([]byte, error) {
	e := encoder{out: make([]byte, 0, 2048)}
	e.line(kindTrial, &t.Head)
	for i := range t.Messages {
		e.line(kindMessage, &t.Messages[i])
	}
	for i := range t.Calls {
		e.line(kindCall, &t.Calls[i])
	}
	for i := range t.Exchanges {
		e.line(kindExchange, &t.Exchanges[i])
	}
	for i := range t.Events {
		e.line(kindEvent, &t.Events[i])
	}
	e.line(kindScript, &t.Script)
	e.line(kindEnd, &t.End)
	if e.err != nil {
		return nil, fmt.Errorf("encoding trial %d of %s: %w", t.Head.N, t.Head.Scenario, e.err)
	}
	return e.out, nil
}

// encoder appends lines and keeps the first error.
type encoder struct {
	out []byte
	err error
}

// line appends v, which encodes as a JSON object, with its type in front.
func (e *encoder) line(kind string, v any) {
	if e.err != nil {
		return
	}
	body, err := json.Marshal(v, options)
	if err != nil {
		e.err = fmt.Errorf("a line of type %s: %w", kind, err)
		return
	}
	e.out = append(e.out, `{"type":"`...)
	e.out = append(e.out, kind...)
	e.out = append(e.out, '"')
	if len(body) > len("{}") {
		e.out = append(e.out, ',')
	}
	e.out = append(e.out, body[1:]...)
	e.out = append(e.out, '\n')
}

// Decode returns the trials whose lines, those of Encode, follow each other.
func Decode(encoded []byte) ([]Trial, error) {
	var trials []Trial
	var open bool // the last trial has no end yet
	for line := range bytes.Lines(encoded) {
		body := bytes.TrimSuffix(line, []byte("\n"))
		kind, ok := lineKind(body)
		switch {
		case !ok || open == (kind == kindTrial):
			return nil, fmt.Errorf("decoding trials: %.60q is not the next line of a trial", body)
		case kind == kindTrial:
			var head TrialHead
			if err := decode(body, &head); err != nil {
				return nil, fmt.Errorf("decoding trials: %w", err)
			}
			trials, open = append(trials, Trial{Head: head}), true
			continue
		}
		trial := &trials[len(trials)-1]
		known, err := trial.add(stored{kind: kind, body: body})
		if !known && err == nil {
			err = fmt.Errorf("unknown line type %q", kind)
		}
		if open = kind != kindEnd; !open && err == nil {
			if missing := trial.missing(); missing != "" {
				err = errors.New(missing)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("decoding trial %d of %s: %w", trial.Head.N, trial.Head.Scenario, err)
		}
	}
	if open {
		head := &trials[len(trials)-1].Head
		return nil, fmt.Errorf("decoding trial %d of %s: it has no end", head.N, head.Scenario)
	}
	return trials, nil
}
