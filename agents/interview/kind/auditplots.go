package kind

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/audit"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

func costPlot(a *audit.Audit) doc.Plot {
	var bars []plot.Bar
	for i := range a.Purposes {
		c := a.Purposes[i].Cost
		bars = append(bars, plot.Bar{Name: a.Purposes[i].Name, Value: c.AtLeast, Unknown: c.Amount == nil})
	}
	return plot.Costs("Cost by purpose", string(a.Prices.Currency), bars)
}

func latencyPlot(a *audit.Audit) doc.Plot {
	of := map[string]int{}
	var samples []plot.Sample
	for _, c := range a.Calls {
		if c.Outcome != session.Accepted && c.Outcome != session.Rejected {
			continue
		}
		i, known := of[string(c.Purpose)]
		if !known {
			i = len(samples)
			of[string(c.Purpose)] = i
			samples = append(samples, plot.Sample{Name: string(c.Purpose)})
		}
		samples[i].Seconds = append(samples[i].Seconds, c.Latency.Seconds())
	}
	return plot.Latency("Latency by purpose", samples)
}

// maxPause is the longest time without messages and calls that the timeline shows.
const maxPause = 15 * time.Minute

// rowName returns the row of a step in the timeline, which has 12 rows.
func rowName(s session.Step) string {
	switch {
	case s.Block() == 0 && s != session.Matching:
		return "Opening"
	case s == session.Matching:
		return stepName(s)
	}
	return fmt.Sprintf("Block %d", s.Block())
}

// timelineBlocks shows the calls of each step, and the time in which the candidate thought, without pauses.
func timelineBlocks(a *audit.Audit) []doc.Block {
	var instants []time.Time
	for _, m := range a.Messages {
		instants = append(instants, m.At)
	}
	for _, c := range a.Calls {
		instants = append(instants, c.At, c.At.Add(c.Latency))
	}
	slices.SortFunc(instants, time.Time.Compare)
	place := map[time.Time]time.Duration{}
	var busy time.Duration
	var pauses []time.Duration
	for i, t := range instants {
		if i > 0 {
			if gap := t.Sub(instants[i-1]); gap > maxPause {
				pauses = append(pauses, gap)
			} else {
				busy += gap
			}
		}
		place[t] = busy
	}
	var spans []plot.Span
	for _, c := range a.Calls {
		s := plot.Span{N: c.N, Name: rowName(c.Step), From: place[c.At], Took: c.Latency}
		switch outcomeTone(c.Outcome) {
		case doc.Bad:
			s.Failed = true
		case doc.Unsure:
			s.Fault = string(c.Outcome)
		default:
		}
		spans = append(spans, s)
	}
	turns := turnsOf(a)
	for _, t := range turns {
		if t.replied && t.answered.Sub(t.shown) <= maxPause {
			spans = append(spans, plot.Span{
				Name: rowName(t.step), From: place[t.shown], Took: place[t.answered] - place[t.shown], Idle: true,
			})
		}
	}
	slices.SortStableFunc(spans, func(a, b plot.Span) int { return cmp.Compare(a.From, b.From) })
	blocks := []doc.Block{plot.Timeline("Calls and answers of each step", spans), turnSums(turns)}
	if pauses != nil {
		text := joinedOrNone(pauses, func(d time.Duration) string { return format.Seconds(d.Seconds()) })
		blocks = append(blocks, doc.Paragraph(doc.Line("Pauses that are cut out: "+text+".")))
	}
	if len(turns) > 0 {
		title := doc.Line(format.Count(len(turns), "message") + " to the candidate, when each was shown and answered")
		blocks = append(blocks, doc.Details{Title: title, Blocks: []doc.Block{turnTable(turns)}})
	}
	return blocks
}
