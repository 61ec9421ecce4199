package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// maxPerturbs limits the shown perturbations of runs that ended alike.
const maxPerturbs = 12

// runEnd are runs of a family that ended alike.
type runEnd struct {
	outcome         result.Outcome
	status, details string
	calls           [2]int // the fewest and the most
	perturb         []string
	runs            int
}

// newRunEnds returns a list of how the runs of a family ended, the worst outcomes first, and the
// place of the item of each run. Runs that ended alike share an item.
func newRunEnds(r *result.Exploration, family result.Family) (doc.List, map[int]string) {
	var ends []*runEnd
	index := map[[3]string]int{}
	of := map[int]int{}
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Family != family {
			continue
		}
		details := c.Details
		if details == "" && len(c.Findings) > 0 {
			details = c.Findings[0].Message
		}
		key := [3]string{string(c.Outcome), c.Status, details}
		at, ok := index[key]
		if !ok {
			at = len(ends)
			index[key] = at
			ends = append(ends, &runEnd{outcome: c.Outcome, status: c.Status, details: details, calls: [2]int{c.Calls, c.Calls}})
		}
		e := ends[at]
		e.runs++
		e.calls = [2]int{min(e.calls[0], c.Calls), max(e.calls[1], c.Calls)}
		if len(e.perturb) < maxPerturbs {
			e.perturb = append(e.perturb, strings.Join(c.Perturb, " and "))
		}
		of[i] = at
	}
	list := doc.List{Noun: "ways to end"}
	place := func(at int) string {
		return plainPattern().ReplaceAllString(fmt.Sprintf("ends~%s~%s~%d", r.Scenario, family, at), "-")
	}
	for _, outcome := range []result.Outcome{result.Failed, result.Errored, result.Degraded, result.Survived, result.Unfired} {
		for at, e := range ends {
			if symbolOf(e.outcome).outcome == outcome {
				list.Items = append(list.Items, e.item(r, place(at)))
			}
		}
	}
	places := map[int]string{}
	for run, at := range of {
		places[run] = place(at)
	}
	return list, places
}

func (e *runEnd) item(r *result.Exploration, id string) doc.Item {
	s := symbolOf(e.outcome)
	calls := format.Count(e.calls[0], "call")
	if e.calls[1] > e.calls[0] {
		calls = fmt.Sprintf("%d to %d calls", e.calls[0], e.calls[1])
	}
	text := doc.Line(doc.Toned(s.tone, s.mark+" "+s.means), ": "+format.Count(e.runs, "run")+", ", doc.Quote(e.status), " after "+calls)
	if e.details != "" {
		text = doc.Line(text, ": ", doc.Quote(e.details))
	}
	names := doc.Line(doc.Quote(roundDurations(strings.Join(e.perturb, ", "))).In(doc.Faint))
	if more := e.runs - len(e.perturb); more > 0 {
		names = doc.Line(names, fmt.Sprintf(" and %d more", more))
	}
	again := Rerun(Scenario{Name: r.Scenario + " [", File: r.File, Perturb: strings.Split(e.perturb[0], " and ")})
	return doc.Item{ID: id, Text: text, Items: []doc.Item{{Text: names}, {Text: doc.Line("again: ", doc.Command(again))}}}
}

// plainPattern are the characters that an id replaces.
var plainPattern = lazyregexp.New(`[^A-Za-z0-9_.~-]+`)

var durationPattern = lazyregexp.New(`(?:\d+h)?(?:\d+m)?\d+\.\d{6,}s`)

// roundDurations shortens durations that are a moment before or after a round one, such as
// 59.999999999s, to "<1m 0s" and ">1m 0s".
func roundDurations(text string) string {
	return durationPattern().ReplaceAllStringFunc(text, func(s string) string {
		d, err := time.ParseDuration(s)
		if err != nil {
			return s
		}
		round := d.Round(time.Millisecond)
		switch {
		case d < round && round-d < time.Microsecond:
			return "<" + format.Seconds(round.Seconds())
		case d > round && d-round < time.Microsecond:
			return ">" + format.Seconds(round.Seconds())
		}
		return s
	})
}
