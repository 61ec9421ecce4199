package reports

import (
	"fmt"
	"math"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// section shows what one kind of agent is measured by: a line and some rates.
// JSON and JUnit have all metrics.
type section struct {
	title string
	// of are the metrics that it shows.
	of func(measure.AgentMetrics) []measure.Value
	// line is a sentence with a %s for each of the metrics in counts.
	line   string
	counts []string
	rates  []shownRate
}

type shownRate struct{ name, says, of string }

// sections are in the order in which they are shown.

var sections = []section{
	{
		title:  "Stop guard",
		of:     func(m measure.AgentMetrics) []measure.Value { return m.Guard },
		line:   "%s answers judged, %s refused, %s made to go on, %s of their steps done",
		counts: []string{"guard_judged", "guard_refused", "guard_forced_executions", "guard_steps_executed"},
		rates: []shownRate{
			{"guard_prevented_rate", "premature stops prevented", "answers that defer"},
			{"guard_false_positive_rate", "false alarms", "answers that do not"},
			{"guard_false_negative_rate", "misses", "answers that defer"},
			{"guard_success_rate", "ended with an answer that may stop", "runs"},
		},
	},
	{
		title: "Interviews",
		of:    func(m measure.AgentMetrics) []measure.Value { return m.Interview },
		line:  "%s answers kept, %s questions served without a call, %s submissions sent twice, %s calls lost and repeated",
		counts: []string{
			"interview_answers", "interview_queued_questions", "interview_repeated_submissions", "interview_lost_calls",
		},
		rates: []shownRate{
			{"interview_finished_rate", "finished", "interviews"},
			{"interview_rejected_rate", "replies that did not validate", "replies"},
			{"interview_warned_rate", "replies used with warnings", "replies"},
			{"interview_transport_retry_rate", "calls retried after a failure", "calls"},
			{"interview_trimming_rate", "calls with a trimmed history", "calls"},
		},
	},
	{
		title: "Supervisor",
		of:    func(m measure.AgentMetrics) []measure.Value { return m.Supervise },
		line:  "%s attempts at tasks, %s forced continuations, %s checkpoints, %s stagnations, %s times taken up again",
		counts: []string{
			"supervise_attempts", "supervise_continuations", "supervise_checkpoints", "supervise_stagnations", "supervise_resumes",
		},
		rates: []shownRate{
			{"supervise_complete_rate", "complete", "runs"},
			{"supervise_done_rate", "tasks done", "tasks"},
			{"supervise_retry_rate", "attempts after a failed one", "attempts"},
		},
	},
	{
		title: "ReAct agents",
		of:    func(m measure.AgentMetrics) []measure.Value { return m.React },
		line:  "%s iterations, %s actions, %s escalations, %s delegations",
		counts: []string{
			"react_iterations", "react_actions", "react_escalations", "react_delegations",
		},
		rates: []shownRate{
			{"react_done_rate", "done", "runs"},
			{"react_refused_step_rate", "steps refused", "iterations"},
			{"react_complacent_rate", "complacent reflections", "reflections"},
			{"react_failed_action_rate", "actions that could not be done", "actions"},
			{"react_unverified_rate", "outputs that did not verify", "verifications"},
		},
	},
}

func (s section) summary(metrics []measure.Value) string {
	shown := make([]any, len(s.counts))
	for i, name := range s.counts {
		shown[i] = text(find(metrics, name))
	}
	return fmt.Sprintf(s.line, shown...)
}

// terminal writes the section; nothing if there are no metrics.
func (s section) terminal(b *strings.Builder, metrics []measure.Value) {
	if metrics == nil {
		return
	}
	fmt.Fprintf(b, "\n%s: %s\n", strings.ToLower(s.title), s.summary(metrics))
	for _, r := range s.rates {
		fmt.Fprintf(b, "  %-36s %s\n", r.says, ofTotal(find(metrics, r.name)))
	}
}

// markdown writes the same as a table.
func (s section) markdown(b *format.Page, metrics []measure.Value) {
	if metrics == nil {
		return
	}
	var text strings.Builder
	text.WriteString("\n### " + s.title + "\n\n" + s.summary(metrics) + "\n\n| | of | |\n|---|---|---|\n")
	for _, r := range s.rates {
		fmt.Fprintf(&text, "| %s | %s | %s |\n", r.says, r.of, ofTotal(find(metrics, r.name)))
	}
	b.Head(text.String())
}

// ofTotal is a rate as counts, share and interval: "12 of 12, 100 % [75.8, 100]".
func ofTotal(v measure.Value) string {
	if !told(v) {
		return text(v)
	}
	line := fmt.Sprintf("%.0f of %d, %s %%", math.Round(*v.Value*float64(v.N)), v.N, percent(*v.Value))
	if in := v.Interval; in != nil {
		line += fmt.Sprintf(" [%s, %s]", percent(in.Lo), percent(in.Hi))
	}
	return line
}

// percent has one decimal where it is not whole.
func percent(share float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", 100*share), ".0")
}
