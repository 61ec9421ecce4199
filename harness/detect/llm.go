package detect

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// judgePrompt explains the labels and the form of the answer to a model.
//
//go:embed judge.md
var judgePrompt string

// LLMConfig configures a detector that asks a model.
type LLMConfig struct {
	Backend llm.Backend
	// Name is shown after "llm:".
	Name string
	// Model is the model's name; empty means the backend's default.
	Model string
	// Timeout limits the time of an answer; default DefaultTimeout.
	Timeout time.Duration
	// CostEUR returns the cost of a call; nil, or false, if the price is unknown.
	CostEUR func(model string, u llm.Usage, reportedUSD *float64) (eur float64, ok bool)
	// Clock measures timeouts; default clock.Real().
	Clock clock.Clock
}

// LLM returns a detector that asks a model about each message and its request, with a fixed prompt
// and no other context. Both are passed as data, but may still mislead the model.
func LLM(cfg LLMConfig) Detector {
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.Real()
	}
	return &judge{cfg}
}

type judge struct{ cfg LLMConfig }

// Kind returns Messages, because the prompt is about messages.
func (*judge) Kind() CorpusKind { return Messages }

// Name implements Detector.
func (j *judge) Name() string {
	if j.cfg.Model == "" {
		return "llm:" + j.cfg.Name
	}
	return "llm:" + j.cfg.Name + "/" + j.cfg.Model
}

// Detect implements Detector. With an error the Prediction has the cost of the call.
func (j *judge) Detect(ctx context.Context, item Item) (Prediction, error) {
	ctx, cancel := j.cfg.Clock.WithTimeout(ctx, j.cfg.Timeout)
	defer cancel()
	temperature := 0.0
	reply, err := j.cfg.Backend.Complete(ctx, llm.Request{
		Purpose: "detect",
		Model:   j.cfg.Model,
		Messages: []llm.Message{
			{Role: llm.System, Content: judgePrompt},
			{Role: llm.User, Content: questionFor(item)},
		},
		JSONMode:    true,
		Temperature: &temperature,
	})
	spent := Prediction{Calls: 1}
	if err != nil {
		spent.CostEUR = j.costOfError(err)
		return spent, fmt.Errorf("ask the judge: %w", err)
	}
	spent.CostEUR = j.cost(reply.Model, reply.Usage, reply.ReportedUSD)
	p, err := readVerdict(reply.Text)
	p.Calls, p.CostEUR = spent.Calls, spent.CostEUR
	return p, err
}

// questionFor encloses the message, and the request if there is one, between lines that occur in
// neither.
func questionFor(item Item) string {
	mark := "-----"
	for strings.Contains(item.Text, mark) || strings.Contains(item.Request, mark) {
		mark += "-"
	}
	question := "The message:\n" + mark + "\n" + item.Text + "\n" + mark
	if item.Request != "" {
		question = "The user's request:\n" + mark + "\n" + item.Request + "\n" + mark + "\n\n" + question
	}
	return question
}

// verdict is the form of an answer.
type verdict struct {
	Class  string   `json:"class"`
	Score  *float64 `json:"score"`
	Steps  []string `json:"steps"`
	Reason string   `json:"reason"`
}

// readVerdict parses a model's answer. Models add fences and words around the requested object, so
// the first JSON object counts.
func readVerdict(text string) (Prediction, error) {
	var v verdict
	begin := strings.IndexByte(text, '{')
	if begin < 0 || len(text) > maxAnswer {
		return Prediction{}, fmt.Errorf("the judge's answer contains no JSON object; it begins %q", sanitize.Line(head([]byte(text)), maxQuote))
	}
	if err := json.NewDecoder(strings.NewReader(text[begin:])).Decode(&v); err != nil {
		return Prediction{}, fmt.Errorf("the judge's answer is not the requested JSON object: %w; it begins %q",
			err, sanitize.Line(head([]byte(text)), maxQuote))
	}
	positive := v.Class == Defers
	a := answer{Positive: &positive, Class: v.Class, Score: v.Score}
	if v.Class == "" {
		return Prediction{}, errors.New(`the judge's answer has no key "class"`)
	}
	if err := a.check(0); err != nil {
		return Prediction{}, err
	}
	p := Prediction{Positive: positive, Class: v.Class, Score: v.Score, Steps: v.Steps}
	if v.Reason != "" {
		p.Reasons = []string{v.Reason}
	}
	return p, nil
}

// cost returns nil if the price is unknown.
func (j *judge) cost(model string, usage *llm.Usage, reportedUSD *float64) *float64 {
	if j.cfg.CostEUR == nil || (usage == nil && reportedUSD == nil) {
		return nil
	}
	if usage == nil {
		usage = &llm.Usage{}
	}
	if model == "" {
		model = j.cfg.Model
	}
	eur, ok := j.cfg.CostEUR(model, *usage, reportedUSD)
	if !ok {
		return nil
	}
	return &eur
}

// costOfError returns the usage of a failed call, if the backend reports it.
func (j *judge) costOfError(err error) *float64 {
	failed, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return nil
	}
	return j.cost("", failed.Usage, nil)
}
