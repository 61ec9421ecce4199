package cli

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/agents/react/step"
)

func (s *Session) redactTask(task react.Task) react.Task {
	task.Do = s.redact.Text(task.Do)
	if task.Input != nil {
		task.Input, _ = s.redactValue(task.Input).(map[string]any)
	}
	return task
}

func (s *Session) redactEntry(e react.Entry) react.Entry {
	for _, text := range []*string{
		&e.Thought, &e.Action, &e.Input, &e.Observation, &e.Reflection, &e.Decision, &e.Reason, &e.Refused, &e.Fault, &e.Answer,
	} {
		*text = s.redact.Text(*text)
	}
	return e
}

func (s *Session) redactResult(r react.Result) react.Result {
	for _, text := range []*string{&r.Output, &r.Question, &r.Next, &r.Details} {
		*text = s.redact.Text(*text)
	}
	r.Value = s.redactJSON(r.Value)
	r.Missing = s.redactAll(r.Missing)
	if r.Verification != nil {
		r.Verification = s.redactVerification(*r.Verification)
	}
	r.Transcript = slices.Clone(r.Transcript)
	for i, e := range r.Transcript {
		r.Transcript[i] = s.redactEntry(e)
	}
	return r
}

func (s *Session) redactVerification(v step.Verification) *step.Verification {
	v.Claims, v.Findings = slices.Clone(v.Claims), slices.Clone(v.Findings)
	for i, claim := range v.Claims {
		v.Claims[i].Text, v.Claims[i].Checks = s.redact.Text(claim.Text), s.redactAll(claim.Checks)
	}
	for i, finding := range v.Findings {
		v.Findings[i].Message = s.redact.Text(finding.Message)
	}
	return &v
}

func (s *Session) redactAll(texts []string) []string {
	texts = slices.Clone(texts)
	for i, text := range texts {
		texts[i] = s.redact.Text(text)
	}
	return texts
}

// redactJSON removes secrets from the texts of a JSON value. A value without secrets is not changed.
func (s *Session) redactJSON(raw json.RawMessage) json.RawMessage {
	var value any
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return raw
	}
	before, err := json.Marshal(value)
	if err != nil {
		return raw
	}
	after, err := json.Marshal(s.redactValue(value))
	if err != nil || string(before) == string(after) {
		return raw
	}
	return after
}

// redactValue returns a copy of a decoded value without secrets.
func (s *Session) redactValue(value any) any {
	switch v := value.(type) {
	case string:
		return s.redact.Text(v)
	case []any:
		v = slices.Clone(v)
		for i := range v {
			v[i] = s.redactValue(v[i])
		}
		return v
	case map[string]any:
		v = maps.Clone(v)
		for key := range v {
			v[key] = s.redactValue(v[key])
		}
		return v
	}
	return value
}

// redactServers returns servers without the secrets in their addresses and headers.
func (s *Session) redactServers(servers map[string]agentfile.Server) map[string]agentfile.Server {
	servers = maps.Clone(servers)
	for name, server := range servers {
		server.URL, server.Headers = s.redact.Text(server.URL), maps.Clone(server.Headers)
		for header, value := range server.Headers {
			server.Headers[header] = s.redact.Text(value)
		}
		servers[name] = server
	}
	return servers
}
