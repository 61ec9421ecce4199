// Package apptest has the contract suite for all ways of driving an external agent: a
// scenario of the demo agent must have the same result in each of them.
package apptest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// Subject is a way of driving an agent that behaves like the demo agent.
type Subject struct {
	// Name describes the driven agent.
	Name string
	// Drive returns the drive section of a scenario without the turns, as lines that are
	// indented by four spaces below the kind of agent. do is a misbehaviour of the demo
	// agent; empty for none.
	Drive func(do string) string
	// Run runs a trial of a scenario.
	Run func(ctx context.Context, scenario string) record.Trial
	// Lacks has the misbehaviours that do not apply to such an agent, with the reason.
	Lacks map[string]string
	// Patience limits a turn that is expected to hang; default 300ms.
	Patience time.Duration
}

// Contract declares the specs. Call it at the top level of a spec file.
func Contract(s Subject) {
	if s.Patience == 0 {
		s.Patience = 300 * time.Millisecond
	}
	ginkgo.Describe(s.Name+" meets the contract of driven agents:", ginkgo.Label("H-01"), func() {
		ginkgo.AfterEach(func() { gomega.Eventually(strays).Should(gomega.BeEmpty(), "processes are left") })
		s.conversations()
		s.failures()
		s.misbehaviours()
		s.endings()
	})
}

// scenario returns a scenario of two turns; keys are further keys of the talk.
func (s *Subject) scenario(do, keys, backend string) string {
	return "name: contract/one\ndrive:\n" + s.Drive(do) + "    turns: [What is it?, And then?]\n" + keys +
		"backend:\n  unpriced: true\n" + backend + "expect: {status: done}\n"
}

const replies = "  replies: [{text: It is this.}, {text: Then that.}]\n"

func (s *Subject) run(do, keys, backend string) record.Trial {
	ginkgo.GinkgoHelper()
	return s.Run(context.Background(), s.scenario(do, keys, backend))
}

func (s *Subject) conversations() {
	ginkgo.It("answers every turn and records every call with its turn", func() {
		t := s.run("", "", replies)
		gomega.Expect(t.End.HarnessError + t.End.Details).To(gomega.BeEmpty())
		gomega.Expect(t.End.Status).To(gomega.Equal("done"))
		gomega.Expect(t.End.Text).To(gomega.Equal("Then that."))
		gomega.Expect(t.End.Iterations).To(gomega.Equal(2))
		gomega.Expect(turns(t)).To(gomega.Equal([]string{"What is it? -> It is this. (1 calls)", "And then? -> Then that. (2 calls)"}))
		gomega.Expect(t.Calls).To(gomega.HaveLen(2))
		gomega.Expect(t.Script.Unused).To(gomega.BeEmpty())
	})

	ginkgo.It("writes the same recording in two runs", func() {
		first, again := s.run("", "", replies), s.run("", "", replies)
		gomega.Expect(encoded(again)).To(gomega.Equal(encoded(first)))
	})
}

func (s *Subject) failures() {
	ginkgo.It("refuses a call beyond the budget and ends the trial", func() {
		t := s.run("", "    max_calls: 1\n", replies)
		gomega.Expect(t.End.Status).To(gomega.Equal("budget"), t.End.HarnessError)
		gomega.Expect(t.End.Details).To(gomega.ContainSubstring("calls"))
		gomega.Expect(t.End.Iterations).To(gomega.Equal(1))
		gomega.Expect(t.Calls).To(gomega.HaveLen(1))
		gomega.Expect(t.Exchanges).To(gomega.HaveLen(2))
	})

	ginkgo.It("fails the agent if no line of the script is left, and reports the call", func() {
		t := s.run("", "", "  replies: [{text: It is this.}]\n")
		gomega.Expect(t.End.Status).To(gomega.Equal("failed"), t.End.HarnessError)
		gomega.Expect(t.Script.Unexpected).To(gomega.HaveLen(1))
		gomega.Expect(turns(t)).To(gomega.HaveLen(2))
	})

	ginkgo.It("passes a fault of the provider to the agent", func() {
		t := s.run("", "", "  replies: [{fault: {kind: status, status: 503}}, {text: It is this.}]\n")
		gomega.Expect(t.End.Status).To(gomega.Equal("failed"), t.End.HarnessError)
		gomega.Expect(t.Exchanges[0].Fired).To(gomega.BeTrue())
	})
}

// misbehaviours has the misbehaviours of an agent, each with the expected end of a trial.
func (s *Subject) misbehaviours() {
	type row = struct{ do, about, status, message string }
	for _, r := range []row{
		{"crash", "reports a crash in the middle of a turn", "crashed", ""},
		{
			"early-crash",
			"gives no verdict on an agent that crashes before its first call",
			"error", "before it had called its model or answered",
		},
		{"exit", "reports a failure that the agent reports", "failed", "status"},
		{"early-exit", "gives no verdict on an agent that fails at once", "error", "before it had called its model or answered"},
		{"early-end", "gives no verdict on an agent that ends at once without an error", "error", ""},
		{"flood", "stops an agent that writes too much", "flooded", ""},
		{"binary", "gives no verdict on an agent that prints binary data", "error", " text"},
		{"fork", "kills and reports processes that are left behind", "error", "left processes behind"},
		{"daemon", "kills and reports processes that are left behind and hide", "error", "left processes behind"},
		{"elsewhere", "refuses and names a call to the real provider", "error", "api.openai.com:443"},
		{"hang", "ends an agent that hangs", "timeout", "had no answer within"},
		{"stay", "kills an agent that hangs and ignores signals", "timeout", "had no answer within"},
	} {
		if _, lacks := s.Lacks[r.do]; lacks {
			continue // no spec: a skipped one would be reported as missing
		}
		ginkgo.It(r.about, func() {
			t := s.run(r.do, s.shortTimeout(r.do), replies)
			gomega.Expect(t.End.Status).To(gomega.Equal(r.status), t.End.HarnessError+t.End.Details)
			if r.status == "error" {
				gomega.Expect(t.End.HarnessError).NotTo(gomega.BeEmpty())
			} else {
				gomega.Expect(t.End.HarnessError).To(gomega.BeEmpty())
			}
			gomega.Expect(t.End.HarnessError + t.End.Details).To(gomega.ContainSubstring(r.message))
			gomega.Expect(turns(t)).NotTo(gomega.BeEmpty())
		})
	}
}

// shortTimeout limits turns that are expected to hang.
func (s *Subject) shortTimeout(do string) string {
	if do != "hang" && do != "stay" {
		return ""
	}
	return fmt.Sprintf("    timeout: %s\n", s.Patience)
}

func (s *Subject) endings() {
	ginkgo.It("interrupts an agent that hangs", func() {
		t := s.run("hang", fmt.Sprintf("    interrupt_after: %s\n", s.Patience), replies)
		gomega.Expect(t.End.Status).To(gomega.Equal("interrupted"), t.End.HarnessError)
		gomega.Expect(t.End.ExitCode).To(gomega.Equal(130))
	})

	ginkgo.It("does not wait for an agent that hangs when the run is cancelled", func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.Patience)
		defer cancel()
		t := s.Run(ctx, s.scenario("hang", "", replies))
		gomega.Expect(t.End.Status).NotTo(gomega.Equal("done"))
	})
}

func turns(t record.Trial) (all []string) {
	for i := range t.Events {
		e := &t.Events[i].Event
		if turn, ok := event.Read[record.Turn](e); ok {
			all = append(all, fmt.Sprintf("%s -> %s (%d calls)", turn.User, e.Detail, turn.Calls))
		}
	}
	return all
}

func encoded(t record.Trial) string {
	ginkgo.GinkgoHelper()
	lines, err := record.Encode(t)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return strings.TrimSpace(string(lines))
}
