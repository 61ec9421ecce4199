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
	ginkgo.Describe(s.Name+" keeps the contract of driven agents:", ginkgo.Label("H-01"), func() {
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

// run runs one trial.
func (s *Subject) run(do, keys, backend string) record.Trial {
	ginkgo.GinkgoHelper()
	return s.Run(context.Background(), s.scenario(do, keys, backend))
}

func (s *Subject) conversations() {
	ginkgo.It("every turn is answered, and every call recorded with its turn", func() {
		t := s.run("", "", replies)
		gomega.Expect(t.End.HarnessError + t.End.Details).To(gomega.BeEmpty())
		gomega.Expect(t.End.Status).To(gomega.Equal("done"))
		gomega.Expect(t.End.Text).To(gomega.Equal("Then that."))
		gomega.Expect(t.End.Iterations).To(gomega.Equal(2))
		gomega.Expect(turns(t)).To(gomega.Equal([]string{"What is it? -> It is this. (1 calls)", "And then? -> Then that. (2 calls)"}))
		gomega.Expect(t.Calls).To(gomega.HaveLen(2))
		gomega.Expect(t.Script.Unused).To(gomega.BeEmpty())
	})

	ginkgo.It("two runs write the same recording", func() {
		first, again := s.run("", "", replies), s.run("", "", replies)
		gomega.Expect(encoded(again)).To(gomega.Equal(encoded(first)))
	})
}

func (s *Subject) failures() {
	ginkgo.It("a call beyond the budget is refused and ends the trial", func() {
		t := s.run("", "    max_calls: 1\n", replies)
		gomega.Expect(t.End.Status).To(gomega.Equal("budget"), t.End.HarnessError)
		gomega.Expect(t.End.Details).To(gomega.ContainSubstring("calls"))
		gomega.Expect(t.End.Iterations).To(gomega.Equal(1))
		gomega.Expect(t.Calls).To(gomega.HaveLen(1))
		gomega.Expect(t.Exchanges).To(gomega.HaveLen(2))
	})

	ginkgo.It("a script that is used up fails the agent, and is a finding", func() {
		t := s.run("", "", "  replies: [{text: It is this.}]\n")
		gomega.Expect(t.End.Status).To(gomega.Equal("failed"), t.End.HarnessError)
		gomega.Expect(t.Script.Unexpected).To(gomega.HaveLen(1))
		gomega.Expect(turns(t)).To(gomega.HaveLen(2))
	})

	ginkgo.It("a fault of the provider reaches the agent", func() {
		t := s.run("", "", "  replies: [{fault: {kind: status, status: 503}}, {text: It is this.}]\n")
		gomega.Expect(t.End.Status).To(gomega.Equal("failed"), t.End.HarnessError)
		gomega.Expect(t.Exchanges[0].Fired).To(gomega.BeTrue())
	})
}

// misbehaviours has the misbehaviours of an agent, each with the expected end of a trial.
func (s *Subject) misbehaviours() {
	type row = struct{ do, about, status, says string }
	for _, r := range []row{
		{"crash", "an agent that crashes in the middle of a turn has crashed", "crashed", ""},
		{
			"early-crash",
			"of an agent that crashes before its first call nothing can be said",
			"error", "before it had called its model or answered",
		},
		{"exit", "an agent that says that it failed has failed", "failed", "status"},
		{"early-exit", "an agent that ends at once cannot be driven", "error", "before it had called its model or answered"},
		{"early-end", "an agent that ends at once, as if all were well, cannot be driven either", "error", ""},
		{"flood", "an agent that writes too much is stopped", "flooded", ""},
		{"binary", "of an agent that prints binary data nothing can be said", "error", " text"},
		{"fork", "processes that are left behind are killed, and said", "error", "left processes behind"},
		{"daemon", "processes that are left behind are killed, and said, even if they hide", "error", "left processes behind"},
		{"elsewhere", "a call to the provider itself is refused, and named", "error", "api.openai.com:443"},
		{"hang", "an agent that hangs is cut off", "timeout", "had no answer within"},
		{"stay", "an agent that hangs and does not want to end is killed", "timeout", "had no answer within"},
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
			gomega.Expect(t.End.HarnessError + t.End.Details).To(gomega.ContainSubstring(r.says))
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
	ginkgo.It("the user interrupts an agent that hangs", func() {
		t := s.run("hang", fmt.Sprintf("    interrupt_after: %s\n", s.Patience), replies)
		gomega.Expect(t.End.Status).To(gomega.Equal("interrupted"), t.End.HarnessError)
		gomega.Expect(t.End.ExitCode).To(gomega.Equal(130))
	})

	ginkgo.It("a run that is given up does not wait for an agent that hangs", func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.Patience)
		defer cancel()
		t := s.Run(ctx, s.scenario("hang", "", replies))
		gomega.Expect(t.End.Status).NotTo(gomega.Equal("done"))
	})
}

// turns returns the recorded turns.
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
