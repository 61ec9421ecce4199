package persist_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

var _ = Describe("Files in context", Label("P-06"), func() {
	// named is a plan of n tasks, each with a file of its own, without looks at the
	// context.
	named := func(n int) plan.Plan {
		p := many(n)
		p.Limits.OptimiseEvery = quantity.Duration(24 * time.Hour)
		for i := range p.Tasks {
			p.Tasks[i].Files = []string{fmt.Sprintf("file%03d.go", i+1)}
		}
		return p
	}

	DescribeTable("are at most fifty",
		func(n, evicted int) {
			r := newRig(named(n))
			result := r.run()
			Expect(result.Status).To(Equal(persist.StatusComplete))
			Expect(result.Counts.Evicted).To(Equal(evicted))
			for _, prompt := range r.prompts {
				Expect(strings.Count(prompt, "- file")).To(BeNumerically("<=", 50))
			}
			saved, err := r.store.Read("context.json")
			if evicted == 0 {
				Expect(err).To(MatchError(fs.ErrNotExist))
				return
			}
			Expect(err).NotTo(HaveOccurred())
			left := 0
			for _, record := range r.store.records() {
				if record.Context != nil {
					left += len(record.Context.Evicted)
					for _, file := range record.Context.Evicted {
						Expect(string(saved)).To(ContainSubstring(`"` + file + `"`))
					}
				}
			}
			Expect(left).To(Equal(evicted))
			for i, e := range r.emitted(event.Checkpoint, "context") {
				Expect(e.N).To(Equal(i + 1))
			}
			Expect(len(r.emitted(event.Checkpoint, "context"))).To(BeNumerically("<=", 1+evicted/40), "one save for many")
		},
		Entry("of 50", 50, 0), Entry("of 51", 51, 1), Entry("of 500", 500, 450),
	)

	It("that an attempt touches are in the next prompt, the last one used last", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{touches("x.go", "y.go", "x.go")}
		r.run()
		Expect(r.prompts[1]).To(ContainSubstring("- x.go\n- y.go\n"))
	})

	It("come back once when a task names them", func() {
		p := named(60)
		p.Tasks[59].Files = []string{"file001.go", "file001.go"}
		r := newRig(p)
		result := r.run()
		Expect(result.Counts.Restored).To(Equal(1))
		Expect(strings.Count(r.prompts[59], "- file001.go")).To(Equal(1))
		Expect(strings.Count(r.prompts[59], "- file")).To(Equal(50))
	})

	It("are limited by the current plan after a restart", func() {
		p := named(30)
		r := newRig(p)
		r.deeds["t0020"] = []deed{grade(persist.Escalated, "who?")}
		r.run()
		r.plan.Limits.ContextFiles = 7
		r.deeds["t0020"] = nil
		Expect(r.again().Status).To(Equal(persist.StatusComplete))
		Expect(strings.Count(r.prompts[len(r.prompts)-1], "- file")).To(Equal(7))
	})

	It("stay while one of the next tasks names them", func() {
		p := named(60)
		p.Tasks[52].Files = []string{"file001.go"}
		r := newRig(p)
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(result.Counts.Restored).To(BeZero())
	})

	It("are looked over every fifteen minutes, and leave if nobody used or names them", func() {
		r := newRig(many(60))
		r.deeds["t0001"] = []deed{touches("old.go")}
		r.deeds["t0020"] = []deed{touches("new.go")}
		r.run()
		var looks []time.Duration
		for _, record := range r.store.of("context") {
			looks = append(looks, record.At)
		}
		Expect(looks).To(Equal([]time.Duration{15 * time.Minute, 30 * time.Minute, 45 * time.Minute, time.Hour}))
		Expect(strings.Count(r.prompts[29], "- old.go")).To(Equal(1))
		Expect(strings.Count(r.prompts[30], "- old.go")).To(BeZero())
		Expect(strings.Count(r.prompts[30], "- new.go")).To(Equal(1))
	})

	It("of a hostile worker are bounded", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
			for i := range 100_000 {
				a.Meter.Touch(fmt.Sprintf("f%d", i))
			}
			a.Meter.Touch(string(make([]byte, 1<<20)))
			return done(ctx, r, a)
		}}
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		for _, line := range r.store.lines {
			Expect(len(line)).To(BeNumerically("<", 64<<10))
		}
	})
})
