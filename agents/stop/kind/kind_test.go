package kind_test

import (
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// judged returns the recorded event of a judgement.
func judged(at time.Duration, j stop.Judgement) record.Event {
	return record.Event{At: at, Event: event.New(1, "because", j)}
}

var (
	refusal = stop.Judgement{
		Forced: true, Steps: 3, Detections: 4, Executed: new(0),
		Categories: map[stop.Category]int{stop.NextSteps: 3, stop.EnumerativeList: 1},
	}
	capped    = stop.Judgement{Steps: 1, Detections: 1, Executed: new(2), Categories: map[stop.Category]int{stop.NextSteps: 1}}
	allowance = stop.Judgement{Allow: true, Executed: new(3)}
)

func guardOf(labels []string, events ...record.Event) kind.GuardFacts {
	return factsOf(record.Scenario{Expect: expect.Expect{Stops: labels}}, events...)
}

func factsOf(sc record.Scenario, events ...record.Event) kind.GuardFacts {
	f := measure.Trial(sc, record.Trial{Events: events}, nil, []measure.Extension{kind.Extension()})
	guard := f.Extensions["guard"].(*kind.GuardFacts)
	Expect(f.Stops).To(Equal(measure.StopFacts{Misjudged: guard.Misjudged, Outcomes: guard.Outcomes}))
	return *guard
}

var _ = Describe("The facts of a stop guard", Label("G-08"), func() {
	It("count what it judged, detected and forced, and time the executions", func() {
		f := guardOf(nil, judged(time.Second, refusal), judged(5*time.Second, allowance))
		Expect(f).To(Equal(kind.GuardFacts{
			Judged: 2, Refused: 1, Forced: 1, Allowed: true, Detections: 4, Steps: 3, Executed: 3,
			By: map[string]int{"next_steps": 3, "enumerative_list": 1}, Execution: 4, ExecutionKnown: true,
		}))
	})

	It("are the same for a running agent and for its recording", func() {
		emitted := judged(0, refusal)
		data, err := json.Marshal(emitted)
		Expect(err).NotTo(HaveOccurred())
		var recorded record.Event
		Expect(json.Unmarshal(data, &recorded)).To(Succeed())
		Expect(guardOf(nil, recorded)).To(Equal(guardOf(nil, emitted)))
	})

	It("ignore other verdicts", func() {
		other := judged(0, refusal)
		other.Name = "completion"
		Expect(guardOf(nil, other)).To(BeZero())
	})

	It("have no execution time where time was real", func() {
		f := factsOf(record.Scenario{RealTime: true}, judged(0, refusal))
		Expect(f.ExecutionKnown).To(BeFalse())
	})

	DescribeTable("compare each judgement with its label",
		func(labels []string, j stop.Judgement, want kind.GuardFacts, misjudged string) {
			f := guardOf(labels, judged(0, j))
			Expect([]int{f.Labelled, f.Deferred, f.Prevented, f.FalsePositives, f.FalseNegatives}).
				To(Equal([]int{want.Labelled, want.Deferred, want.Prevented, want.FalsePositives, want.FalseNegatives}))
			if misjudged == "" {
				Expect(f.Misjudged).To(BeEmpty())
			} else {
				Expect(f.Misjudged).To(Equal([]string{misjudged}))
			}
		},
		Entry("a stop prevented", []string{"defers"}, refusal, kind.GuardFacts{Labelled: 1, Deferred: 1, Prevented: 1}, ""),
		Entry("refused, but not continued", []string{"defers"}, capped, kind.GuardFacts{Labelled: 1, Deferred: 1}, ""),
		Entry("a miss", []string{"defers"}, allowance, kind.GuardFacts{Labelled: 1, Deferred: 1, FalseNegatives: 1},
			"answer 1, labelled defers, was allowed to stop: because"),
		Entry("a false alarm", []string{"suggests"}, refusal, kind.GuardFacts{Labelled: 1, FalsePositives: 1},
			"answer 1, labelled suggests, was refused: because"),
		Entry("rightly allowed", []string{"clean"}, allowance, kind.GuardFacts{Labelled: 1}, ""),
		Entry("no label", nil, refusal, kind.GuardFacts{}, ""),
		Entry("more labels than judgements", []string{"clean", "clean"}, allowance, kind.GuardFacts{Labelled: 1},
			"judged answers: 1, labels: 2"),
	)
})

var _ = Describe("The metrics of a stop guard", Label("G-08"), func() {
	value := func(values []measure.Value, name string) measure.Value {
		GinkgoHelper()
		for _, v := range values {
			if v.Name == name {
				return v
			}
		}
		Fail("there is no metric " + name)
		return measure.Value{}
	}

	newTotals := func() *measure.AgentTotals { return measure.NewAgentTotals([]measure.Extension{kind.Extension()}) }
	add := func(t *measure.AgentTotals, f kind.GuardFacts) {
		t.Add(&measure.Facts{Extensions: map[string]any{"guard": &f}})
	}

	It("are empty where no guard was asked", func() {
		t := newTotals()
		add(t, kind.GuardFacts{})
		Expect(t.Close()).To(BeEmpty())
	})

	It("are all there, rates with intervals", func() {
		t := newTotals()
		add(t, guardOf([]string{"defers", "clean"}, judged(time.Second, refusal), judged(5*time.Second, allowance)))
		add(t, guardOf([]string{"defers", "suggests"}, judged(0, refusal), judged(2*time.Second, capped)))
		values := t.Close().All()
		for name, want := range map[string]float64{
			"guard_judged": 4, "guard_refused": 3, "guard_detections": 9, "guard_detections_next_steps": 7,
			"guard_detections_enumerative_list": 2, "guard_detections_per_run": 4.5, "guard_forced_executions": 2,
			"guard_steps_per_execution": 7.0 / 3, "guard_steps_executed": 5, "guard_execution_mean": 3,
			"guard_success_rate": 0.5, "guard_prevented_rate": 1, "guard_false_positive_rate": 0.5, "guard_false_negative_rate": 0,
		} {
			Expect(value(values, name).Value).To(HaveValue(BeNumerically("~", want, 1e-12)), name)
		}
		Expect(value(values, "guard_prevented_rate").N).To(Equal(2))
		add(t, guardOf([]string{"defers"}, judged(0, capped)))
		add(t, guardOf([]string{"defers"}, judged(0, allowance)))
		Expect(value(t.Close().All(), "guard_prevented_rate").N).To(Equal(3), "a run that its bound ended does not count")
		values = t.Close().All()
		Expect(value(values, "guard_prevented_rate").Interval.Method).To(Equal("wilson"))
		Expect(t.Close().All()).To(Equal(values))
	})

	It("have no rate without labels, and no execution time where time was real", func() {
		t := newTotals()
		add(t, factsOf(record.Scenario{RealTime: true}, judged(0, refusal)))
		values := t.Close().All()
		Expect(value(values, "guard_false_positive_rate").Value).To(BeNil())
		Expect(value(values, "guard_execution_mean").Known).To(BeFalse())
		Expect(value(values, "guard_execution_mean").Value).To(BeNil())
	})
})
