package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/judge"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// scored records the scenario's scores of the agent's last answer. If a score cannot be
// computed, the trial ends with an error. Trials that were not run, and perturbed ones, are
// not scored.
func (d *driver) scored(ctx context.Context, t *Trial, end record.End) record.End {
	if end.HarnessError != "" || end.Skipped != "" || len(d.perturb) > 0 || ctx.Err() != nil {
		return end
	}
	for i := range d.scenario.Scores {
		s := &d.scenario.Scores[i]
		score, err := t.score(ctx, s, end.Text)
		if err != nil {
			end.HarnessError = fmt.Sprintf("score %s: %v", s.Name, err)
			return end
		}
		t.collector.Emit(event.New(0, score.Why, record.Score{Name: s.Name, Pass: score.Pass}))
	}
	return end
}

func (t *Trial) score(ctx context.Context, s *scenarios.Score, text string) (judge.Score, error) {
	if s.Rule != nil {
		rule, err := judge.Rule(*s.Rule).Scorer()
		if err != nil {
			return judge.Score{}, err
		}
		return rule.Score(ctx, judge.Item{Text: text})
	}
	if why := t.Env.whyForbidden(s.Judge.Backend); why != "" {
		return judge.Score{}, fmt.Errorf("the judge: %s", why)
	}
	model, err := t.judge(ctx, s.Judge)
	if err != nil {
		return judge.Score{}, err
	}
	var agreement *judge.Agreement
	if s.Judge.Measured != nil {
		agreement = &judge.Agreement{}
		if err := json.Unmarshal(s.Judge.Measured, agreement); err != nil {
			return judge.Score{}, fmt.Errorf("read the judge's agreement: %w", err)
		}
	}
	return judge.Gate(model, agreement, Least(s.Judge)).Score(ctx, judge.Item{Task: s.Judge.Task, Text: text})
}

// Least returns the lowest agreement that a judge must reach.
func Least(j *scenarios.ScoreJudge) float64 {
	if j.LeastKappa != nil {
		return *j.LeastKappa
	}
	return scenarios.DefaultKappa
}

// Judge returns the model of a judge outside of a trial, to measure its agreement.
func (e *Env) Judge(ctx context.Context, j *scenarios.ScoreJudge) (*judge.Model, error) {
	if why := e.whyForbidden(j.Backend); why != "" {
		return nil, errors.New(why)
	}
	t := &Trial{Env: e, Clock: clock.NewVirtual(), random: rand.New(rand.NewPCG(1, 0))}
	if j.Backend.Live() {
		t.Clock = clock.Real()
	}
	backend, _, err := t.otherBackend(ctx, &j.Backend)
	if err != nil {
		return nil, fmt.Errorf("connect the judge: %w", err)
	}
	return newJudge(backend, j), nil
}

func newJudge(backend llm.Backend, j *scenarios.ScoreJudge) *judge.Model {
	return &judge.Model{Backend: backend, Name: j.Backend.Model, Rubric: j.Rubric}
}

// otherBackend returns a backend beside the agent's, whose calls are metered and report their cost, and its engine,
// nil if it is live.
func (t *Trial) otherBackend(ctx context.Context, b *scenarios.Backend) (llm.Backend, *mocks.Engine, error) {
	script, err := compile(*b)
	if err != nil {
		return nil, nil, err
	}
	other := &Trial{script: script, Env: t.Env, Clock: t.Clock, random: t.random}
	if script.program != nil {
		other.engine = mocks.NewEngine(script.program, mocks.EngineOptions{
			Clock: t.Clock, Scale: b.TimeScale, Seed: t.random.Uint64(), Count: t.Env.Tokens.Count,
		})
	}
	client, err := other.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	return other.metered(ctx, priced{client, func(u llm.Usage) (float64, bool) { return other.usd(b.Model, u) }}), other.engine, nil
}

// judge returns the model of a judge, whose calls are recorded.
func (t *Trial) judge(ctx context.Context, j *scenarios.ScoreJudge) (*judge.Model, error) {
	backend, _, err := t.otherBackend(ctx, &j.Backend)
	if err != nil {
		return nil, fmt.Errorf("connect the judge: %w", err)
	}
	recorded := llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		end := t.collector.Begin(judge.Purpose, req)
		reply, err := backend.Complete(ctx, req)
		end(reply, err, errors.Is(err, context.Canceled))
		return reply, err
	})
	return newJudge(recorded, j), nil
}

// priced is a backend that reports the cost of its calls by the price of its own model, if
// they do not report it themselves: the trial's price is that of the agent's model.
type priced struct {
	llm.Adapter
	usd func(llm.Usage) (float64, bool)
}

// Complete implements llm.Backend.
func (p priced) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	reply, err := p.Adapter.Complete(ctx, req)
	if reply.ReportedUSD == nil && reply.Usage != nil {
		if usd, ok := p.usd(*reply.Usage); ok {
			reply.ReportedUSD = &usd
		}
	}
	return reply, err
}
