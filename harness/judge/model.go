package judge

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// Purpose is the purpose of a judge's calls.
const Purpose = "judge"

// Limits on the texts sent to a judge and on its answers, in bytes.
const (
	maxText   = 100_000
	maxAnswer = 10_000
)

// defaultRetries is the default number of retries after a malformed answer.
const defaultRetries = 2

// Model scores by asking a language model whether an answer meets a rubric.
type Model struct {
	// Backend receives the calls. A failed call ends the scoring with its error, because backends
	// have their own retries.
	Backend llm.Backend
	// Name is the model's name; empty means the backend's default.
	Name string
	// Rubric describes the criteria.
	Rubric string
	// Retries is the number of retries after a malformed answer; 0 means 3, less than 0 means
	// none.
	Retries int
}

//go:embed model.md
var instructions string

// Digest identifies the prompt, the rubric and the model, so that an agreement cannot be used for
// another judge.
func (m *Model) Digest() string {
	sum := sha256.New()
	for _, part := range []string{instructions, m.Name, m.Rubric} {
		fmt.Fprintf(sum, "%d\n%s", len(part), part)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// Score implements Scorer. The error is a *FormError if the answers are malformed.
func (m *Model) Score(ctx context.Context, item Item) (Score, error) {
	request, mark, err := m.request(item)
	if err != nil {
		return Score{}, err
	}
	retries := m.Retries
	if retries == 0 {
		retries = defaultRetries
	}
	form := &FormError{}
	for form.Tries <= max(0, retries) {
		reply, err := m.Backend.Complete(ctx, request)
		form.Tries++
		if err != nil {
			return Score{}, fmt.Errorf("ask the judge: %w", err)
		}
		score, err := read(reply.Text, mark)
		if err == nil {
			return score, nil
		}
		form.Problem = err.Error()
		// The answer itself is not repeated, because a text that manipulated it could do so
		// again.
		request.Messages = append(request.Messages[:2:2], llm.Message{
			Role: llm.System, Content: "Your last answer was not in form: " + form.Problem + ". Answer with the JSON object alone.",
		})
	}
	return Score{}, form
}

// question is the part of the prompt about an item.
type question struct {
	Item   string `json:"item"`
	Rubric string `json:"rubric"`
	Task   string `json:"task"`
	Answer string `json:"answer"`
}

// request returns the request about an item, and the mark that its verdict must repeat. Texts are
// JSON strings, so that they cannot end early, and the mark depends on all of them, so that no text
// can contain a verdict with its own mark.
func (m *Model) request(item Item) (llm.Request, string, error) {
	if strings.TrimSpace(m.Rubric) == "" {
		return llm.Request{}, "", errors.New("the judge has no rubric")
	}
	if n := len(item.Text) + len(item.Task); n > maxText {
		return llm.Request{}, "", fmt.Errorf("the answer and its task have %d bytes; a judge gets at most %d", n, maxText)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s%s", m.Digest(), len(item.Task), item.Task, item.Text))
	mark := hex.EncodeToString(sum[:8])
	text, err := json.Marshal(question{
		mark, m.Rubric, strings.ToValidUTF8(item.Task, "\uFFFD"), strings.ToValidUTF8(item.Text, "\uFFFD"),
	})
	if err != nil {
		return llm.Request{}, "", fmt.Errorf("write the question to the judge: %w", err)
	}
	temperature := 0.0
	return llm.Request{
		Purpose: Purpose, Model: m.Name, JSONMode: true, Temperature: &temperature,
		Messages: []llm.Message{{Role: llm.System, Content: instructions}, {Role: llm.User, Content: string(text)}},
	}, mark, nil
}

// verdict is the form of an answer.
type verdict struct {
	Item    *string `json:"item"`
	Verdict *string `json:"verdict"`
	Reason  *string `json:"reason"`
}

// read parses an answer, which must be exactly one JSON object of the requested form.
func read(text, mark string) (Score, error) {
	if len(text) > maxAnswer || !utf8.ValidString(text) {
		return Score{}, fmt.Errorf("it has %d bytes, or is not text; at most %d are read", len(text), maxAnswer)
	}
	var v verdict
	in := json.NewDecoder(bytes.NewReader([]byte(text)))
	in.DisallowUnknownFields()
	if err := in.Decode(&v); err != nil {
		return Score{}, fmt.Errorf("it is not the JSON object that was asked for; it begins %s", quoted(text))
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return Score{}, errors.New("there is something after the JSON object")
	}
	switch {
	case v.Item == nil || *v.Item != mark:
		return Score{}, errors.New(`"item" is not the mark of the item`)
	case v.Verdict == nil || *v.Verdict != "pass" && *v.Verdict != "fail":
		return Score{}, errors.New(`"verdict" is neither "pass" nor "fail"`)
	case v.Reason == nil || strings.TrimSpace(*v.Reason) == "":
		return Score{}, errors.New(`"reason" is missing`)
	}
	return Score{Pass: *v.Verdict == "pass", Why: sanitize.Line(*v.Reason, 500)}, nil
}
