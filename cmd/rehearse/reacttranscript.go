package main

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/verify"
)

// openReactTranscript begins the transcript of a ReAct agent.
func openReactTranscript(path string, job reactJob, o react.Options) (*transcript, error) {
	return openTranscript(path, "react", func(t *transcript) error {
		return t.line(struct {
			Type      string        `json:"type"`
			Tool      string        `json:"tool"`
			Agent     string        `json:"agent"`
			File      string        `json:"file"`
			Workspace string        `json:"workspace"`
			Task      react.Task    `json:"task"`
			Options   react.Options `json:"options"`
		}{"begin", "rehearse " + toolVersion(), job.agent.ID, job.agent.File, job.workspace, t.redactTask(job.task), o})
	})
}

// addReact writes one iteration, which redactReactEntry returned.
func (t *transcript) addReact(e react.Entry) error {
	return t.line(struct {
		Type string `json:"type"`
		react.Entry
	}{"iteration", e})
}

// endReact writes how the run ended, as redactReact returned it. The iterations
// are there already.
func (t *transcript) endReact(r react.Result) error {
	return t.line(struct {
		Type string `json:"type"`
		react.Result
		Transcript []react.Entry `json:"transcript,omitempty"`
	}{"end", r, nil})
}

func (t *transcript) redactTask(task react.Task) react.Task {
	task.Do = t.redact.Text(task.Do)
	if task.Input != nil {
		task.Input, _ = t.redactValue(task.Input).(map[string]any)
	}
	return task
}

// redactReactEntry takes the secrets out of an iteration.
func (t *transcript) redactReactEntry(e react.Entry) react.Entry {
	for _, text := range []*string{&e.Thought, &e.Action, &e.Input, &e.Observation, &e.Reflection, &e.Decision, &e.Reason, &e.Refused} {
		*text = t.redact.Text(*text)
	}
	return e
}

// redactReact takes the secrets out of a result and its iterations.
func (t *transcript) redactReact(r react.Result) react.Result {
	for _, text := range []*string{&r.Output, &r.Question, &r.Next, &r.Details} {
		*text = t.redact.Text(*text)
	}
	r.Value = t.redactJSON(r.Value)
	r.Missing = t.redactAll(r.Missing)
	if r.Verification != nil {
		r.Verification = t.redactVerification(*r.Verification)
	}
	r.Transcript = slices.Clone(r.Transcript)
	for i, e := range r.Transcript {
		r.Transcript[i] = t.redactReactEntry(e)
	}
	return r
}

func (t *transcript) redactVerification(v verify.Record) *verify.Record {
	v.Answers, v.Findings = slices.Clone(v.Answers), slices.Clone(v.Findings)
	for i, answer := range v.Answers {
		v.Answers[i].Text, v.Answers[i].Checks = t.redact.Text(answer.Text), t.redactAll(answer.Checks)
	}
	for i, finding := range v.Findings {
		v.Findings[i].Message = t.redact.Text(finding.Message)
	}
	return &v
}

func (t *transcript) redactAll(texts []string) []string {
	texts = slices.Clone(texts)
	for i, text := range texts {
		texts[i] = t.redact.Text(text)
	}
	return texts
}

// redactJSON takes the secrets out of a JSON value. Its texts are decoded for
// that, so a value without any stays as it is, byte for byte.
func (t *transcript) redactJSON(raw json.RawMessage) json.RawMessage {
	var value any
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return raw
	}
	before, err := json.Marshal(value)
	if err != nil {
		return raw
	}
	after, err := json.Marshal(t.redactValue(value))
	if err != nil || string(before) == string(after) {
		return raw
	}
	return after
}

// redactValue is a decoded value without secrets; the value itself stays as it is.
func (t *transcript) redactValue(value any) any {
	switch v := value.(type) {
	case string:
		return t.redact.Text(v)
	case []any:
		v = slices.Clone(v)
		for i := range v {
			v[i] = t.redactValue(v[i])
		}
		return v
	case map[string]any:
		v = maps.Clone(v)
		for key := range v {
			v[key] = t.redactValue(v[key])
		}
		return v
	}
	return value
}
