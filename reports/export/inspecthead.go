package export

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// verdictScore is the name of the score and of its scorer.
const verdictScore = "verdict"

func (l *Log) header(h Head) header {
	out := header{
		Version: version, Status: "success", Eval: l.spec(h), Plan: l.plan(),
		Results: results{TotalSamples: l.trials, CompletedSamples: l.trials - l.unscored, Scores: []evalScore{l.score()}},
		Stats: stats{
			StartedAt: stamp(h.Start), CompletedAt: stamp(h.Start.Add(l.longest)),
			ModelUsage: orEmpty(l.usage), RoleUsage: orEmpty(l.byRole),
		},
		Tags: []string{}, Metadata: l.spec(h).Metadata,
	}
	switch {
	case len(h.Problems) > 0:
		out.Status = "error"
		out.Error = &evalError{Message: strings.Join(h.Problems, "\n")}
	case h.Interrupted:
		out.Status = "cancelled"
	}
	return out
}

func (l *Log) spec(h Head) spec {
	s := spec{
		EvalID: hashID(h.Run.ID, "eval"), RunID: h.Run.ID, Created: stamp(h.Start), Task: "rehearse", TaskID: h.Run.ID,
		Dataset:  dataset{Name: "scenarios", Samples: len(l.samples), SampleIDs: append([]string{}, l.samples...)},
		Model:    "none",
		Config:   config{Epochs: max(1, l.epochs), EpochsReducer: []string{"mean"}},
		Packages: map[string]string{},
		Metadata: map[string]any{"prices": h.Run.Prices, "tool": h.Run.Tool},
		Scorers:  []scorer{{verdictScore}},
	}
	if len(l.models) > 0 {
		s.Model = strings.Join(l.models, ",")
	}
	if name, number, ok := strings.Cut(h.Run.Tool, " "); ok {
		s.Packages[name] = number
	}
	for name, value := range h.Run.Labels {
		s.Metadata["label "+name] = value
	}
	return s
}

func (l *Log) plan() plan { return plan{Name: "plan", Steps: []step{{Solver: "rehearse"}}} }

// score returns the share of passed among passed and failed trials.
func (l *Log) score() evalScore {
	s := evalScore{
		Name: verdictScore, Scorer: verdictScore, Reducer: "mean",
		ScoredSamples: l.passed + l.failed, UnscoredSamples: l.unscored, Metrics: map[string]metric{},
	}
	if s.ScoredSamples > 0 {
		s.Metrics["accuracy"] = metric{Name: "accuracy", Value: float64(l.passed) / float64(s.ScoredSamples)}
	}
	return s
}

// addUsage adds the usage of calls by model and by purpose. An unknown cost makes the sum
// unknown.
func addUsage(byModel, byRole map[string]usage, sc *record.Scenario, calls []record.Call) {
	for i := range calls {
		c := &calls[i]
		u := usageOf(sc, c)
		if u == nil {
			continue
		}
		addTo(byModel, modelOf(sc, c), u)
		if c.Purpose != "" {
			addTo(byRole, c.Purpose, u)
		}
	}
}

// maxNames limits the distinct models and purposes: an agent that invents them must not cost
// memory.
const maxNames = 200

func addTo(to map[string]usage, name string, u *usage) {
	have, known := to[name]
	if !known && len(to) >= maxNames {
		name = "(others)"
		have, known = to[name]
	}
	sum := usage{
		InputTokens: have.InputTokens + u.InputTokens, OutputTokens: have.OutputTokens + u.OutputTokens,
		TotalTokens:           have.TotalTokens + u.TotalTokens,
		InputTokensCacheWrite: have.InputTokensCacheWrite + u.InputTokensCacheWrite,
		InputTokensCacheRead:  have.InputTokensCacheRead + u.InputTokensCacheRead,
		ReasoningTokens:       have.ReasoningTokens + u.ReasoningTokens,
	}
	if u.TotalCost != nil && (!known || have.TotalCost != nil) {
		cost := *u.TotalCost
		if known {
			cost += *have.TotalCost
		}
		sum.TotalCost = &cost
	}
	to[name] = sum
}

func usageOf(sc *record.Scenario, c *record.Call) *usage {
	if c.Usage == nil {
		return nil
	}
	u := usage{
		InputTokens: c.Usage.Input, OutputTokens: c.Usage.Output, TotalTokens: c.Usage.Total(),
		InputTokensCacheWrite: c.Usage.CacheWrite, InputTokensCacheRead: c.Usage.CachedInput, ReasoningTokens: c.Usage.Reasoning,
	}
	if usd, why := measure.CallCostUSD(sc, c); why == "" {
		u.TotalCost = &usd
	}
	return &u
}

func modelOf(sc *record.Scenario, c *record.Call) string {
	switch {
	case c.Model != "":
		return c.Model
	case sc.Model != "":
		return sc.Model
	}
	return "none"
}

const maxSampleID = 150

// sampleID derives the id of a sample from the name of a scenario: the name if it is valid, else a
// clean form with a hash, so ids are distinct. Ids become file names in an archive and must not
// leave its folder.
func sampleID(name string) string {
	clean := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, sanitize.Line(name, maxSampleID))
	clean = strings.TrimPrefix(path.Clean("/"+clean), "/")
	if clean == name {
		return name
	}
	return clean + "-" + hashID(name)[:12]
}

// hashID returns a short hash of parts.
func hashID(parts ...string) string {
	hash := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(hash[:11])
}

func orEmpty(m map[string]usage) map[string]usage {
	if m == nil {
		return map[string]usage{}
	}
	return m
}

var stopReasons = map[llm.FinishReason]string{
	llm.FinishStop: "stop", llm.FinishLength: "max_tokens", llm.FinishToolCalls: "tool_calls", llm.FinishContentFilter: "content_filter",
}
