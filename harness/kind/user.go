package kind

import (
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// UserExtensions returns the facts and metrics of simulated users and of their models, for all agents that hold
// a conversation.
func UserExtensions() []measure.Extension {
	return []measure.Extension{{
		Name: "user", Zero: &measure.UserFacts{}, Metrics: userMetrics, Section: userSection,
		Of: func(_ *record.Scenario, _ *record.Trial, f *measure.Facts) any {
			facts := f.User
			return &facts
		},
		Counts: func(facts any) bool { return facts.(*measure.UserFacts).Simulated() },
	}, {
		Name: "user_model", Zero: &measure.UserModelFacts{}, Metrics: userModelMetrics, Section: userModelSection,
		Of: func(_ *record.Scenario, _ *record.Trial, f *measure.Facts) any {
			facts := f.User.Model
			return &facts
		},
		Counts: func(facts any) bool { return facts.(*measure.UserModelFacts).Calls > 0 },
	}}
}

// userMetrics are the metrics of simulated users. Rates of what a scenario does not declare are 0 of
// 0, not 0.
var userMetrics = []measure.Metric{
	measure.Sum("user_turns", func(f *measure.UserFacts) int { return f.Turns }),
	measure.Mean("user_turns_per_run", func(f *measure.UserFacts) int { return f.Turns }),
	measure.Sum("user_repeated_questions", func(f *measure.UserFacts) int { return f.Repeated }),
	measure.Mean("user_repeated_questions_per_run", func(f *measure.UserFacts) int { return f.Repeated }),
	measure.Sum("user_silent_answers", func(f *measure.UserFacts) int { return f.Silent }),
	measure.Rate("user_goal_rate", func(f *measure.UserFacts) (k, n int) { return f.CountReached(f.Wanted), len(f.Wanted) }),
	measure.Rate("user_resisted_rate", func(f *measure.UserFacts) (k, n int) {
		return len(f.Avoided) - f.CountReached(f.Avoided), len(f.Avoided)
	}),
	measure.RateOfTrials("user_gave_up_rate", func(f *measure.UserFacts, _ *measure.Facts) bool { return f.Outcome == "gave-up" }),
	measure.Rate("user_repeated_rate", func(f *measure.UserFacts) (k, n int) { return f.Repeated, f.Asked }),
	measure.Rate("user_contradiction_rate", func(f *measure.UserFacts) (k, n int) {
		return f.Contradictions, known(f.ContradictionsKnown, f.Turns)
	}),
	measure.Rate("user_refusal_rate", func(f *measure.UserFacts) (k, n int) { return f.Refusals, known(f.RefusalsKnown, f.Turns) }),
}

func known(is bool, n int) int {
	if is {
		return n
	}
	return 0
}

var userSection = measure.Section{
	Title:    "Simulated users",
	Sentence: "%s turns, %s questions repeated, %s empty answers",
	Counts:   []string{"user_turns", "user_repeated_questions", "user_silent_answers"},
	Rates: []measure.SectionRate{
		{Metric: "user_goal_rate", Label: "goals reached", Of: "goals"},
		{Metric: "user_resisted_rate", Label: "goals avoided by the agent", Of: "goals to avoid"},
		{Metric: "user_gave_up_rate", Label: "users gave up", Of: "runs"},
		{Metric: "user_repeated_rate", Label: "questions repeated", Of: "questions for facts"},
		{Metric: "user_contradiction_rate", Label: "answers that contradict a fact", Of: "answers"},
		{Metric: "user_refusal_rate", Label: "refusals", Of: "answers"},
	},
}

var userModelMetrics = []measure.Metric{
	measure.Sum("user_model_calls", func(f *measure.UserModelFacts) int { return f.Calls }),
	measure.Sum("user_model_failed_calls", func(f *measure.UserModelFacts) int { return f.Failed }),
	measure.Amount("user_model_tokens", "", func(f *measure.UserModelFacts) (float64, bool) {
		return float64(f.Tokens.Total), f.Tokens.Known
	}),
	measure.Amount("user_model_cost_eur", "EUR", func(f *measure.UserModelFacts) (float64, bool) { return f.Cost.EUR, f.Cost.Known }),
	measure.Amount("user_model_cost_usd", "USD", func(f *measure.UserModelFacts) (float64, bool) { return f.Cost.USD, f.Cost.Known }),
	measure.Rate("user_model_replaced_rate", func(f *measure.UserModelFacts) (k, n int) { return f.Replaced, f.Calls - f.Failed }),
}

var userModelSection = measure.Section{
	Title:    "Models of simulated users",
	Sentence: "%s calls (%s failed), tokens: %s, cost in EUR: %s; not part of the calls, tokens and cost of the agent",
	Counts:   []string{"user_model_calls", "user_model_failed_calls", "user_model_tokens", "user_model_cost_eur"},
	Rates:    []measure.SectionRate{{Metric: "user_model_replaced_rate", Label: "texts without a fact, replaced", Of: "texts"}},
}
