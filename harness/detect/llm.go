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

// judgePrompt tells a model what the labels mean and how to answer.
//
//go:embed judge.md
var judgePrompt string

// LLMConfig configures a detector that asks a model.
type LLMConfig struct {
	Backend llm.Backend
	// Name is shown behind "llm:".
	Name string
	// Model is the model's name; empty means the backend's own default.
	Model string
	// Timeout is how long an answer may take; default DefaultTimeout.
	Timeout time.Duration
	// CostEUR prices a call's usage; nil, or false, where the price is not known.
	CostEUR func(model string, u llm.Usage, reportedUSD *float64) (eur float64, ok bool)
	// Clock times Timeout; default: the machine's.
	Clock clock.Clock
}

// LLM is a detector that asks a model about each message, with a prompt of this
// project and nothing else: it knows as little of the task as the guard does.
// What the message says goes to the model as data, and may still mislead it.
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

// Kind implements Kinded: what the model is asked is about messages.
func (*judge) Kind() CorpusKind { return Messages }

// Name implements Detector.
func (j *judge) Name() string {
	if j.cfg.Model == "" {
		return "llm:" + j.cfg.Name
	}
	return "llm:" + j.cfg.Name + "/" + j.cfg.Model
}

// Detect implements Detector. With an error the Prediction still tells what the
// call cost.
func (j *judge) Detect(ctx context.Context, item Item) (Prediction, error) {
	ctx, cancel := j.cfg.Clock.WithTimeout(ctx, j.cfg.Timeout)
	defer cancel()
	temperature := 0.0
	reply, err := j.cfg.Backend.Complete(ctx, llm.Request{
		Purpose: "detect",
		Model:   j.cfg.Model,
		Messages: []llm.Message{
			{Role: llm.System, Content: judgePrompt},
			{Role: llm.User, Content: quote(item.Text)},
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

// quote marks where the message begins and ends, by a line that it does not hold.
func quote(text string) string {
	mark := "-----"
	for strings.Contains(text, mark) {
		mark += "-"
	}
	return "The message:\n" + mark + "\n" + text + "\n" + mark
}

// verdict is what the prompt asks for.
type verdict struct {
	Class  string   `json:"class"`
	Score  *float64 `json:"score"`
	Steps  []string `json:"steps"`
	Reason string   `json:"reason"`
}

// readVerdict reads a model's answer. Models put a fence or a word around the
// object that they were asked for: what counts is the first object.
func readVerdict(text string) (Prediction, error) {
	var v verdict
	begin := strings.IndexByte(text, '{')
	if begin < 0 || len(text) > maxAnswer {
		return Prediction{}, fmt.Errorf("the judge's answer holds no JSON object; it begins %q", sanitize.Line(head([]byte(text)), maxQuote))
	}
	if err := json.NewDecoder(strings.NewReader(text[begin:])).Decode(&v); err != nil {
		return Prediction{}, fmt.Errorf("the judge's answer is not the JSON object that was asked for: %w; it begins %q",
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

// cost is nil where it is not known.
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

// costOfError is what a failed call consumed, if the backend knows.
func (j *judge) costOfError(err error) *float64 {
	failed, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return nil
	}
	return j.cost("", failed.Usage, nil)
}
