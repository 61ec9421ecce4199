package react_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/react"
)

// play is a script that is written together with what must come of it: one
// outcome for each iteration, and the calls made until then.
type play struct {
	answers []string
	// outcomes are the rule of each iteration, or its decision where it was accepted.
	outcomes []string
	calls    []int // made when the iteration ends
	joined   bool  // the last answer ends in a reflection that the next step may join
}

// say adds an answer, joined to the last one where both may stand in one.
func (p *play) say(t *rapid.T, text string) {
	if p.joined && rapid.Bool().Draw(t, "joined") {
		p.answers[len(p.answers)-1] = docs(p.answers[len(p.answers)-1], text)
	} else {
		p.answers = append(p.answers, text)
	}
	p.joined = false
}

func (p *play) ends(outcome string) {
	p.outcomes, p.calls = append(p.outcomes, outcome), append(p.calls, len(p.answers))
}

// step adds an iteration, or two, that does not end the run.
func (p *play) step(t *rapid.T) {
	bad := map[string]string{
		"action: search\n": "thought-required", "thought: x\n": "action-required", docs(searching, goingOn): "invented-observation",
		docs(reading, searching): "invented-observation", "decision: maybe\n": "unknown-decision",
	}
	switch kind := rapid.SampledFrom([]string{"good", "refused step", "refused reflection", "no reflection"}).Draw(t, "kind"); kind {
	case "refused step":
		text := rapid.SampledFrom(sortedKeys(bad)).Draw(t, "bad")
		p.say(t, text)
		p.ends(bad[text])
	case "refused reflection", "no reflection":
		p.say(t, searching)
		refusal := map[string][2]string{"refused reflection": {pleased, "complacent-reflection"}, "no reflection": {reading, "reflection-required"}}[kind]
		p.answers = append(p.answers, refusal[0])
		p.ends(refusal[1])
		p.answers = append(p.answers, goingOn)
		p.ends("continue")
		p.joined = true
	default:
		p.say(t, searching)
		p.answers = append(p.answers, goingOn)
		p.ends("continue")
		p.joined = true
	}
}

// finish adds the end of a run, and returns the status that it leads to.
func (p *play) finish(t *rapid.T) react.Status {
	kind := rapid.SampledFrom([]string{"done", "done in two", "revised", "unverified", "escalate", "blocked"}).Draw(t, "end")
	if kind == "escalate" || kind == "blocked" {
		p.answers = append(p.answers, deciding(kind)) // no observation is needed
		p.ends(kind)
		return react.Status(kind)
	}
	p.say(t, searching)
	switch kind {
	case "done":
		p.answers = append(p.answers, ended)
	case "done in two":
		p.answers = append(p.answers, finished, docs(verified, report))
	default:
		p.answers = append(p.answers, docs(finished, doubtful, report))
		p.ends("unverified")
		last := map[string]string{"revised": verified, "unverified": doubtful}[kind]
		p.answers = append(p.answers, docs(last, report))
		p.ends("")
		return map[string]react.Status{"revised": react.StatusDone, "unverified": react.StatusPartial}[kind]
	}
	p.ends("done")
	return react.StatusDone
}

// expected returns what a run with a number of iterations comes to.
func (p *play) expected(status react.Status, most int) (react.Status, []string, int) {
	n := len(p.outcomes)
	switch {
	case n <= most:
		return status, p.outcomes, len(p.answers)
	case p.outcomes[most-1] == "unverified": // no iteration is left for the revision
		outcomes := append([]string{}, p.outcomes[:most]...)
		outcomes[most-1] = "done"
		return react.StatusPartial, outcomes, p.calls[most-1]
	}
	return react.StatusEscalate, p.outcomes[:most], p.calls[most-1]
}

var _ = Describe("A run of known steps", Label("R-01", "R-02", "R-08"), func() {
	It("comes to what each of them leads to, with no call too many", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			var p play
			for range rapid.IntRange(0, 6).Draw(t, "steps") {
				p.step(t)
			}
			most := rapid.IntRange(1, 12).Draw(t, "iterations")
			status, outcomes, calls := p.expected(p.finish(t), most)
			r := newRig(p.answers...)
			r.options.MaxIterations, r.options.Stuck = most, -1
			res := r.run()
			var got []string
			for _, e := range res.Transcript {
				if e.Refused != "" {
					got = append(got, e.Refused)
				} else {
					got = append(got, e.Decision)
				}
			}
			if res.Status != status || strings.Join(got, " ") != strings.Join(outcomes, " ") || len(r.requests) != calls {
				t.Fatalf("%s after %q with %d calls; want %s after %q with %d calls\n%s",
					res.Status, got, len(r.requests), status, outcomes, calls, strings.Join(p.answers, "\n=====\n"))
			}
		})
	})
})
