package kind_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

var _ = Describe("The invariants of an external agent", func() {
	well := func(f *measure.Facts) {
		*f = measure.Facts{
			Run:   measure.RunFacts{Status: "done", Text: "It is in out.txt.", Iterations: 1},
			Calls: measure.CallFacts{Total: 2},
			Turns: []measure.TurnFacts{{N: 1, User: "Where?", Text: "It is in out.txt.", Calls: 2}},
			Files: map[string]string{"out.txt": "it"},
		}
	}
	// failed returns a run that failed because of a call.
	failed := func(kind, details string) func(*measure.Facts) {
		return func(f *measure.Facts) {
			f.Run.Status, f.Run.ExitCode, f.Run.Details, f.Run.Text = "failed", 1, details, ""
			f.Calls.Failed, f.Calls.Errors, f.Calls.LastError = 1, map[string]int{kind: 1}, kind
			f.Turns[0].Text, f.Turns[0].Error = "", details
		}
	}
	says := func(text string) func(*measure.Facts) {
		return func(f *measure.Facts) { f.Run.Text, f.Turns[0].Text = text, text }
	}

	fired := func(kind string) func(*measure.Facts) {
		return func(f *measure.Facts) { f.Script.Fired = map[string]int{kind: 1} }
	}

	answered := func(f *measure.Facts) { f.Calls.LastError = "" }

	DescribeTable("find", func(broken string, changes ...func(*measure.Facts)) {
		language := gate.NewLanguage(nil, map[string][]gate.Invariant{"command": kind.ExternalInvariants()})
		s := record.Scenario{Agent: "command", Perturb: []string{"call=2:status"}, Invariants: language.Invariants("command")}
		j, err := gate.ForScenario(language, &s)
		Expect(err).NotTo(HaveOccurred())
		var golden, f measure.Facts
		well(&golden)
		well(&f)
		f.Run.Perturbed = 1
		f.Golden = measure.GoldenOf(&golden)
		for _, change := range changes {
			change(&f)
		}
		var found []string
		for _, finding := range j.Judge(f) {
			Expect(finding.Severity).To(Equal(gate.Failing), "%s", finding.Evidence)
			found = append(found, finding.Message)
		}
		if broken == "" {
			Expect(found).To(BeEmpty())
		} else {
			Expect(found).To(ConsistOf(HavePrefix(broken + ": ")))
		}
	},
		Entry("nothing in a successful run", ""),
		Entry("nothing in another answer", "", says("Please call us.")),
		Entry("a part of the answer, passed on as the whole", "answer-is-whole", says("It is in")),
		Entry("no answer, which is no part of one", "turns-answered", says("")),
		Entry("nothing in a part of a text that was truncated on its way", "", says("It is in"), fired("text-truncated")),
		Entry("a file that is missing", "said-is-done", func(f *measure.Facts) { f.Files = nil }),
		Entry("another file", "said-is-done", func(f *measure.Facts) { f.Files = map[string]string{"out.txt": "other"} }),
		Entry("nothing in an additional file", "", func(f *measure.Facts) { f.Files = map[string]string{"out.txt": "it", "log": ""} }),
		Entry("nothing in missing files that the answer explains", "", says("I could not write it."), func(f *measure.Facts) { f.Files = nil }),
		Entry("a turn without an answer or an error", "turns-answered", func(f *measure.Facts) { f.Turns = append(f.Turns, measure.TurnFacts{N: 2, User: "And?"}) }),
		Entry("a call too many", "bounded-calls", func(f *measure.Facts) { f.Calls.Total = 5 }),
		Entry("a failed run with exit status 0", "true-exit-code", func(f *measure.Facts) { f.Run.Status, f.Run.Details = "failed", "why" }),
		Entry("nothing in a failure with the status of the call", "", failed("unavailable", "the model answered with status 503")),
		Entry("nothing in a failure with the name of the error", "", failed("unavailable", "unavailable")),
		Entry("nothing in a reported reset", "", failed("unavailable", "read tcp: connection reset by peer")),
		Entry("nothing in a reported rate limit", "", failed("rate-limited", "Error: Rate limit reached")),
		Entry("nothing in a reported truncation", "", failed("truncated", "Error: unexpected EOF")),
		Entry("nothing in the error of a parser", "", failed("malformed", "Invalid character in JSON at position 3")),
		Entry("nothing in an exceeded deadline", "", failed("timeout", "context deadline exceeded")),
		Entry("nothing in an invalid key", "", failed("unauthorized", "Incorrect API key provided")),
		Entry("nothing in a refusal", "", failed("refused", "blocked by the content filter")),
		Entry("nothing if the script has no line", "", failed("unexpected-call", "it went wrong")),
		Entry("a failure without its cause", "cause-named", failed("unavailable", "it went wrong")),
		Entry("nothing after an answer that was changed", "", failed("truncated", "no text"), answered, fired("empty-text")),
		Entry("a survived failure that is not named", "cause-named", failed("truncated", "no text"), answered),
		Entry("a failure that names something else", "cause-named", failed("unauthorized", "the model answered with status 503")),
		Entry("a failure without a message", "error-shown", failed("unexpected-call", ""), func(f *measure.Facts) { f.Turns = nil }),
	)
})
