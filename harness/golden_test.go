package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// path is the driver of a golden path that counts the runs of each trial.
type path struct {
	mu     sync.Mutex
	driven map[int]int
	end    record.End // of the trials on the path
}

func newPath(end record.End) *path { return &path{driven: map[int]int{}, end: end} }

func (p *path) Head() record.Scenario {
	return record.Scenario{Name: "path", Trials: 1, Seed: 7, Agent: "loop"}
}

func (p *path) Trial(_ context.Context, n int) (record.Trial, []record.Timing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.driven[n]++
	return record.Trial{Head: record.TrialHead{Scenario: "path", N: n}, End: p.end}, nil
}

func (p *path) Points() drive.Points { return drive.Points{} }

func (p *path) Perturbed(ps []perturb.Perturbation) (drive.Driver, error) {
	if len(ps) == 0 {
		return p, nil
	}
	return &departure{path: p, name: fmt.Sprintf("path %v", ps), trials: 1}, nil
}

// departure is the driver of a perturbed path.
type departure struct {
	path    *path
	name    string
	trials  int
	driven  atomic.Int32
	trial   func(n int) record.End
	missing error // in place of the path
}

func (d *departure) Head() record.Scenario {
	return record.Scenario{Name: d.name, Trials: d.trials, Seed: 7, Agent: "loop", Perturb: []string{"call=1:status"}}
}

func (d *departure) Trial(_ context.Context, n int) (record.Trial, []record.Timing) {
	d.driven.Add(1)
	end := record.End{Status: "done"}
	if d.trial != nil {
		end = d.trial(n)
	}
	return record.Trial{Head: record.TrialHead{Scenario: d.name, N: n}, End: end}, nil
}

func (d *departure) Points() drive.Points { return drive.Points{} }

func (d *departure) Perturbed([]perturb.Perturbation) (drive.Driver, error) {
	if d.missing != nil {
		return nil, d.missing
	}
	return d.path, nil
}

const loops = `
drive: {loop: {prompt: Go on.}}
backend: {model: gpt-4.1-mini, retry: 1, replies: [{text: Working., latency: 1s}, {text: DONE, latency: 2s}]}
`

// off returns a perturbed driver of one scenario for each text.
func off(env *drive.Env, text string, departures ...string) []drive.Driver {
	GinkgoHelper()
	golden, err := drive.New(parse(text), env)
	Expect(err).NotTo(HaveOccurred())
	var all []drive.Driver
	for _, text := range departures {
		p, err := perturb.Parse(text)
		Expect(err).NotTo(HaveOccurred())
		d, err := golden.Perturbed([]perturb.Perturbation{p})
		Expect(err).NotTo(HaveOccurred())
		all = append(all, d)
	}
	return all
}

var _ = Describe("a perturbed scenario", Label("H-04"), func() {
	It("is compared with the golden run of the same trial, which the sink does not receive", func() {
		env, sink := newEnv(), &memory{}
		drivers := off(env, loops+"expect: {status: done}\n", "call=2:status,status=503", "call=1:timeout")
		out, err := harness.RunDrivers(context.Background(), slices.Values(drivers), harness.Options{Language: kinds.Language(), Workers: 2, Env: env, Sink: sink})
		Expect(err).NotTo(HaveOccurred())
		Expect(out).To(Equal(harness.Outcome{Trials: 2}))
		Expect(sink.order()).To(Equal([]string{"spec/one [call=2:status,status=503]#1", "spec/one [call=1:timeout]#1"}))
		for _, j := range sink.trials {
			Expect(j.Facts.Golden).To(And(HaveField("Status", "done"), HaveField("Duration", 3.0), HaveField("Calls.Total", 2)))
			var golden measure.Golden
			Expect(json.Unmarshal(j.Trial.Head.Golden, &golden)).To(Succeed())
			Expect(golden).To(Equal(j.Facts.Golden))
			Expect(string(j.Lines)).To(ContainSubstring(`"golden":{"status":"done"`))
		}
		survived := sink.trials[0]
		Expect(survived.Facts.Calls.Retries).To(Equal(1))
		Expect(survived.Verdict).To(Equal(gate.Pass), "%v", survived.Findings)
	})

	It("records the invariants of the agent and of the scenario, and is judged by them", func() {
		text := loops + "perturb: ['call=2:status,status=503']\ninvariants: [calls.total == golden.calls.total, calls.retries == 0]\n"
		judged := one(text)
		shipped := kinds.Language().Invariants("loop")
		Expect(shipped).NotTo(BeEmpty())
		Expect(judged.Scenario.Invariants).To(Equal(append(shipped, "calls.total == golden.calls.total", "calls.retries == 0")))
		Expect(judged.Verdict).To(Equal(gate.Fail))
		Expect(judged.Findings).To(HaveExactElements(And(HaveField("Rule", gate.InvariantRule), HaveField("At", "invariants[1]"))))
	})

	It("is also judged by the expectations of its file", func() {
		judged := one(loops + "perturb: ['call=2:status,status=503']\nexpect: {calls: 3}\n")
		Expect(judged.Verdict).To(Equal(gate.Fail))
		Expect(judged.Findings).To(HaveExactElements(HaveField("Rule", "calls")))
	})

	It("is an error if the perturbation did not fire", func() {
		judged := one(loops + "perturb: ['call=3:status']\n")
		Expect(judged.Verdict).To(Equal(gate.Error))
		Expect(judged.Findings).To(ContainElement(And(
			HaveField("Rule", "unfired-fault"), HaveField("Evidence", "call=3:status: no such call was made"),
		)))
	})

	It("has no effect on unperturbed scenarios", func() {
		judged := one(loops + "invariants: [calls.retries == 0]\nexpect: {calls: 2}\n")
		Expect(judged.Verdict).To(Equal(gate.Pass))
		Expect(judged.Trial.Head.Golden).To(BeEmpty())
		Expect(judged.Facts.Golden).To(BeZero())
	})

	It("runs each trial of the golden path once, for any number of concurrent perturbed drivers", func() {
		p := newPath(record.End{Status: "done"})
		departures := func(yield func(drive.Driver) bool) {
			for i := range 200 {
				if !yield(&departure{path: p, name: fmt.Sprintf("path [%d]", i), trials: 3}) {
					return
				}
			}
		}
		out, err := harness.RunDrivers(context.Background(), departures, harness.Options{Language: kinds.Language(), Workers: 8, Env: newEnv(), Sink: &memory{}})
		Expect(err).NotTo(HaveOccurred())
		Expect(out.Trials).To(Equal(600))
		Expect(p.driven).To(Equal(map[int]int{1: 1, 2: 1, 3: 1}))
	})

	It("is recorded the same with any number of workers", func() {
		recorded := func(workers int) string {
			env, sink := newEnv(), &memory{}
			drivers := off(env, loops+"expect: {status: done}\n", "call=1:status", "call=2:reset-mid-stream", "call=2:latency,first=9s", "call=1:text-padded")
			_, err := harness.RunDrivers(context.Background(), slices.Values(drivers), harness.Options{Language: kinds.Language(), Workers: workers, Env: env, Sink: sink})
			Expect(err).NotTo(HaveOccurred())
			var all strings.Builder
			for _, j := range sink.trials {
				all.Write(j.Lines)
			}
			return all.String()
		}
		Expect(recorded(8)).To(Equal(recorded(1)))
	})

	DescribeTable("is not run if its golden path was not",
		func(end record.End, verdict gate.Verdict, evidence string) {
			p, sink := newPath(end), &memory{}
			d := &departure{path: p, name: "path [x]", trials: 1}
			_, err := harness.RunAll(context.Background(), []drive.Driver{d}, harness.Options{Language: kinds.Language(), Env: newEnv(), Sink: sink})
			Expect(err).NotTo(HaveOccurred())
			Expect(sink.trials[0].Verdict).To(Equal(verdict))
			Expect(sink.trials[0].Findings[0].Evidence).To(Equal(evidence))
			Expect(sink.trials[0].Trial.Head).To(Equal(record.TrialHead{Scenario: "path [x]", N: 1, Seed: drive.Seed(7, 1)}))
			Expect(d.driven.Load()).To(BeZero())
		},
		Entry("because the harness failed", record.End{HarnessError: "no disk"}, gate.Error, "the golden path could not be run: no disk"),
		Entry("because something is not installed", record.End{Skipped: "no server"}, gate.Skip, "no server"),
	)

	It("reports a missing golden path", func() {
		d := &departure{name: "path [x]", trials: 1, missing: errors.New("lost")}
		_, err := harness.RunAll(context.Background(), []drive.Driver{d}, harness.Options{Language: kinds.Language(), Env: newEnv(), Sink: &memory{}})
		Expect(err).To(MatchError("prepare scenario path [x]: find the golden path: lost"))
	})
})

var _ = Describe("RunDrivers", Label("H-04"), func() {
	It("requests drivers in order as there is room, and none after the end", func() {
		asked := 0
		drivers := func(yield func(drive.Driver) bool) {
			for ; asked < 10_000; asked++ {
				if !yield(stub{name: fmt.Sprint(asked), trials: 1}) {
					return
				}
			}
		}
		stop := errors.New("enough")
		sink := &memory{onTrial: func(place int) error {
			if place == 5 {
				return stop
			}
			return nil
		}}
		out, err := harness.RunDrivers(context.Background(), drivers, harness.Options{Language: kinds.Language(), Workers: 2, Env: newEnv(), Sink: sink})
		Expect(err).To(MatchError(stop))
		Expect(out.Trials).To(Equal(4))
		Expect(sink.order()).To(Equal([]string{"0#1", "1#1", "2#1", "3#1", "4#1"}))
		Expect(asked).To(BeNumerically("<", 100))
	})

	It("returns the trials before a driver whose trials cannot be judged", func() {
		drivers := slices.Values([]drive.Driver{stub{name: "a", trials: 2}, &departure{name: "b", trials: 1, missing: errors.New("lost")}, stub{name: "c", trials: 1}})
		sink := &memory{}
		out, err := harness.RunDrivers(context.Background(), drivers, harness.Options{Language: kinds.Language(), Workers: 2, Env: newEnv(), Sink: sink})
		Expect(err).To(MatchError(ContainSubstring("prepare scenario b: find the golden path: lost")))
		Expect(sink.order()).To(Equal([]string{"a#1", "a#2"}))
		Expect(out.Trials).To(Equal(2))
	})

	It("reports an interruption in the middle, but not after the end", func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		endless := func(yield func(drive.Driver) bool) {
			for i := 0; yield(stub{name: fmt.Sprint(i), trials: 1}); i++ {
			}
		}
		sink := &memory{onTrial: func(place int) error {
			if place == 3 {
				cancel()
			}
			return nil
		}}
		out, err := harness.RunDrivers(ctx, endless, harness.Options{Language: kinds.Language(), Workers: 2, Env: newEnv(), Sink: sink})
		Expect(err).NotTo(HaveOccurred())
		Expect(out.Interrupted).To(BeTrue())

		ctx, cancel = context.WithCancel(context.Background())
		sink = &memory{onTrial: func(int) error { cancel(); return nil }}
		out, err = harness.RunDrivers(ctx, slices.Values([]drive.Driver{stub{name: "a", trials: 1}}), harness.Options{Language: kinds.Language(), Env: newEnv(), Sink: sink})
		Expect(err).NotTo(HaveOccurred())
		Expect(out).To(Equal(harness.Outcome{Trials: 1}))
	})

	It("does not encode trials that are not written", func() {
		env, sink := newEnv(), &memory{}
		drivers := off(env, loops+"expect: {status: done}\n", "call=1:status")
		_, err := harness.RunDrivers(context.Background(), slices.Values(drivers), harness.Options{Language: kinds.Language(), Env: env, Sink: sink, Bare: true})
		Expect(err).NotTo(HaveOccurred())
		Expect(sink.trials[0].Lines).To(BeEmpty())
		Expect(sink.trials[0].Facts.Calls.Total).To(Equal(2))
	})

	It("does nothing without drivers", func() {
		out, err := harness.RunDrivers(context.Background(), slices.Values([]drive.Driver(nil)), harness.Options{Language: kinds.Language(), Env: newEnv(), Sink: &memory{}})
		Expect(err).NotTo(HaveOccurred())
		Expect(out).To(Equal(harness.Outcome{}))
	})
})
