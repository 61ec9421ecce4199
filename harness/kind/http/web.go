package http

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/jsonpath"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Web describes the request of a turn, and the answer in the response.
type Web struct {
	// Health is a path that answers 200 once the application accepts requests; default: the
	// application is ready once it listens.
	Health string `yaml:"health,omitempty" json:"health,omitempty"`
	// HealthTimeout limits how long that may take; default 30s.
	HealthTimeout quantity.Duration `yaml:"health_timeout,omitempty" json:"health_timeout,omitempty"`
	// Request is the request of a turn.
	Request Request `yaml:"request" json:"request"`
	// Answer is the JSON path (RFC 9535) of the answer in the response, such as
	// $.reply; default: the body as text.
	Answer string `yaml:"answer,omitempty" json:"answer,omitempty"`
	// Session is the JSON path of a session's id in the response; it is {{.Session}} in later
	// requests. Cookies are always stored.
	Session string `yaml:"session,omitempty" json:"session,omitempty"`
}

// Request is a request; path, headers and body are templates over the turn: .Turn
// (its text), .N (from 1), .Session, and json, which quotes a value.
type Request struct {
	Method string `yaml:"method,omitempty" json:"method,omitempty"` // default POST
	// Path is the path with its query, such as "/ask?q={{urlquery .Turn}}".
	Path string `yaml:"path" json:"path" jsonschema:"example=/chat"`
	// Headers are further headers of the request, by name.
	Headers map[string]string `yaml:"headers,omitempty" json:"headers,omitempty"`
	// Body is the body, such as '{"message": {{json .Turn}}}'; default empty.
	Body string `yaml:"body,omitempty" json:"body,omitempty"`
}

// Check reports problems of the description; at is its path in the scenario.
func (w *Web) Check(c *scenarios.Checker, at string) {
	if w.Health != "" && !strings.HasPrefix(w.Health, "/") {
		c.Add(at+".health", "", "%q is not a path; it begins with a slash, such as /healthz", w.Health)
	}
	if _, err := w.Request.compile(); err != nil {
		where := at + ".request"
		if f, ok := errors.AsType[*fieldError](err); ok && c.Has(where+"."+f.field) {
			where, err = where+"."+f.field, f.err
		}
		c.Add(where, "", "%v", err)
	}
	for _, path := range []struct{ name, text string }{{"answer", w.Answer}, {"session", w.Session}} {
		if path.text == "" {
			continue
		}
		if _, err := jsonpath.Parse(path.text); err != nil {
			c.Add(at+"."+path.name, "", "%v", err)
		}
	}
}

// Dialogue compiles the description.
func (w *Web) Dialogue() (d Dialogue, err error) {
	d = Dialogue{health: w.Health, healthTimeout: cmp.Or(w.HealthTimeout.Std(), defaultHealthTimeout)}
	if d.request, err = w.Request.compile(); err != nil {
		return d, fmt.Errorf("the request of a turn: %w", err)
	}
	for _, path := range []struct {
		name, text string
		to         *jsonpath.Path
	}{{"answer", w.Answer, &d.answer}, {"session", w.Session, &d.session}} {
		if path.text == "" {
			continue
		}
		if *path.to, err = jsonpath.Parse(path.text); err != nil {
			return d, fmt.Errorf("%s: %w", path.name, err)
		}
	}
	return d, nil
}
