package queue

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/record"
)

var _ = BeforeEach(func() {
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).WithTimeout(30 * time.Second).ShouldNot(gleak.HaveLeaked(before)) })
})

func TestQueue(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "queue")
}

// scenariosOf draws the scenarios of a plan.
func scenariosOf(t *rapid.T) []Scenario {
	needs := [][]string{nil, {"docker"}, {"docker", "gpu"}}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Scenario {
		return Scenario{Trials: rapid.IntRange(1, 30).Draw(t, "trials"), Needs: rapid.SampledFrom(needs).Draw(t, "needs")}
	}), 1, 12).Draw(t, "scenarios")
}

var _ = Describe("the layout of a plan", Label("H-04"), func() {
	It("numbers each trial once, in the order of the plan", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			l := newLayout(scenariosOf(t))
			next := 0
			for i, sc := range l.scenarios {
				for n := 1; n <= sc.Trials; n++ {
					if got := l.number(i, n); got != next {
						t.Fatalf("trial %d of scenario %d has the number %d, want %d", n, i, got, next)
					}
					if scenario, in := l.locate(next); scenario != i || in != n {
						t.Fatalf("trial %d is trial %d of scenario %d, want %d of %d", next, in, scenario, n, i)
					}
					next++
				}
				if !slices.Equal(l.lanes[l.lane[i]], sc.Needs) {
					t.Fatalf("scenario %d is in the lane %v", i, l.lanes[l.lane[i]])
				}
			}
			if l.trials() != next {
				t.Fatalf("%d trials, want %d", l.trials(), next)
			}
		})
	})
})

var _ = Describe("gaps", Label("H-04"), func() {
	It("are what no span covers", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			done := rapid.SliceOfN(rapid.Bool(), 0, 40).Draw(t, "done")
			var covered []span
			for i, is := range done {
				switch {
				case !is:
				case len(covered) > 0 && covered[len(covered)-1].last == i-1 && rapid.Bool().Draw(t, "joined"):
					covered[len(covered)-1].last = i
				default:
					covered = append(covered, span{i, i})
				}
			}
			open := make([]bool, len(done))
			for _, g := range gaps(len(done), covered) {
				if g.len() < 1 {
					t.Fatalf("an empty gap: %v", g)
				}
				for i := g.first; i <= g.last; i++ {
					open[i] = true
				}
			}
			for i := range done {
				if done[i] == open[i] {
					t.Fatalf("trial %d: covered %t, in a gap %t", i, done[i], open[i])
				}
			}
		})
	})
})

var _ = Describe("batch", Label("H-04"), func() {
	It("takes the next trials, at least one, of one lane, and about as much work as wanted", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			l := newLayout(scenariosOf(t))
			var e estimate
			for range rapid.IntRange(0, 5).Draw(t, "timed") {
				first := rapid.IntRange(0, l.trials()-1).Draw(t, "first")
				last := rapid.IntRange(first, l.trials()-1).Draw(t, "last")
				e.add(&l, span{first, last}, time.Duration(rapid.IntRange(1, 5000).Draw(t, "ms"))*time.Millisecond)
			}
			first := rapid.IntRange(0, l.trials()-1).Draw(t, "open first")
			open := span{first, rapid.IntRange(first, l.trials()-1).Draw(t, "open last")}
			slots := rapid.IntRange(0, 20).Draw(t, "slots")
			got := batch(&l, open, &e, time.Second, open.len(), slots)
			if got.first != open.first || got.last < got.first || got.last > open.last || got.len() > maxBatch {
				t.Fatalf("%v of %v", got, open)
			}
			begin, _ := l.locate(got.first)
			var work time.Duration
			for g := got.first; g <= got.last; g++ {
				i, _ := l.locate(g)
				if l.lane[i] != l.lane[begin] {
					t.Fatalf("%v has several lanes", got)
				}
				work += e.of(i, time.Second)
			}
			if got.len() > 1 && work > time.Second {
				t.Fatalf("%v has %s of work", got, work)
			}
		})
	})

	DescribeTable("chooses", func(each time.Duration, left, slots, want int) {
		l := newLayout([]Scenario{{Trials: 10_000}})
		var e estimate
		if each > 0 {
			e.add(&l, span{0, 9}, 10*each)
		}
		Expect(batch(&l, span{10, 9999}, &e, time.Second, left, slots).len()).To(Equal(want))
	},
		Entry("one trial as long as nothing is known", time.Duration(0), 9990, 4, 1),
		Entry("a second of work", 10*time.Millisecond, 9990, 4, 100),
		Entry("one trial of a long time", time.Minute, 9990, 4, 1),
		Entry("as many as are allowed", 100*time.Microsecond, 9990, 1, maxBatch),
		Entry("less near the end, so that 4 slots end together", 10*time.Millisecond, 160, 4, 20),
		Entry("not too little near the end", 10*time.Millisecond, 8, 4, 5),
	)
})

var _ = Describe("estimate", Label("H-04"), func() {
	It("uses the times of the scenario itself, or else of all", func() {
		l := newLayout([]Scenario{{Trials: 2}, {Trials: 2}, {Trials: 2}})
		var e estimate
		Expect(e.of(0, time.Hour)).To(Equal(time.Hour))
		e.add(&l, span{0, 1}, 2*time.Second)
		e.add(&l, span{2, 3}, 6*time.Second)
		Expect(e.of(0, time.Hour)).To(Equal(time.Second))
		Expect(e.of(1, time.Hour)).To(Equal(3 * time.Second))
		Expect(e.of(2, time.Hour)).To(Equal(2 * time.Second))
		e.add(&l, span{1, 4}, 4*time.Second)
		Expect(e.of(2, time.Hour)).To(Equal(time.Second))
	})
})

var _ = Describe("a lease", Label("H-04"), func() {
	It("ends exactly when a worker was silent for longer, counted from when the observer could hear it", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			at := func(name string) time.Time { return time.UnixMilli(rapid.Int64Range(0, 20_000).Draw(t, name)) }
			now, beat, since := at("now"), at("beat"), at("since")
			lease := time.Duration(rapid.IntRange(1, 10_000).Draw(t, "lease")) * time.Millisecond
			want := now.After(beat.Add(lease)) && now.After(since.Add(lease))
			if got := expired(now, beat, since, lease); got != want {
				t.Fatalf("expired is %t, want %t", got, want)
			}
		})
	})
})

var _ = Describe("a job that never arrived", Label("H-04"), func() {
	It("is overdue once, after it was missing all the time", func() {
		at := func(s int) time.Time { return time.Unix(int64(s), 0) }
		since, due := overdue(nil, []int64{1, 2}, at(0))
		Expect(due).To(BeEmpty())
		since, due = overdue(since, []int64{2, 3}, at(2))
		Expect(due).To(BeEmpty())
		Expect(since).To(Equal(map[int64]time.Time{2: at(0), 3: at(2)}))
		since, due = overdue(since, []int64{1, 2, 3}, at(3))
		Expect(due).To(Equal([]int64{2}))
		Expect(since).To(Equal(map[int64]time.Time{1: at(3), 3: at(2)}))
	})
})

var _ = Describe("the death of a worker", Label("H-04"), func() {
	DescribeTable("leads to", func(deaths, trials, limit int, want retry) {
		Expect(afterDeath(deaths, trials, limit)).To(Equal(want))
	},
		Entry("another try", 1, 100, 25, runAgain), Entry("another try of a single trial", 24, 1, 25, runAgain),
		Entry("single trials", 5, 100, 25, split), Entry("an error", 25, 1, 25, giveUp),
		Entry("single trials first, with a low limit", 1, 2, 1, split), Entry("an error at once, with the limit 1", 1, 1, 1, giveUp),
	)
	It("never ends the trials of a job with several, and ends each after the limit", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			limit, trials := rapid.IntRange(1, 1000).Draw(t, "limit"), rapid.IntRange(1, maxBatch).Draw(t, "trials")
			deaths := 1
			for afterDeath(deaths, trials, limit) == runAgain {
				if deaths++; deaths > limit {
					t.Fatalf("more than %d deaths", limit)
				}
			}
			if got := afterDeath(deaths, trials, limit); (got == giveUp) != (trials == 1) {
				t.Fatalf("%d after %d deaths", got, deaths)
			}
		})
	})
})

var _ = Describe("the needs of a scenario", Label("H-04"), func() {
	DescribeTable("are served", func(tags, needs []string, want bool) { Expect(serves(tags, needs)).To(Equal(want)) },
		Entry("none", nil, nil, true), Entry("none with tags", []string{"docker"}, nil, true),
		Entry("all", []string{"gpu", "docker"}, []string{"docker", "gpu"}, true), Entry("one is missing", []string{"gpu"}, []string{"docker", "gpu"}, false),
	)
})

var _ = Describe("a result", Label("H-04"), func() {
	trial := func(name string, n int) record.Trial {
		return record.Trial{Head: record.TrialHead{Scenario: name, N: n}, End: record.End{Status: "done", Text: "a\nb"}}
	}
	packed := func(trials ...record.Trial) []byte {
		GinkgoHelper()
		var r result
		for _, t := range trials {
			lines, err := record.Encode(t)
			Expect(err).NotTo(HaveOccurred())
			r.lines = append(r.lines, lines...)
			r.timings = append(r.timings, record.Timing{Scenario: t.Head.Scenario, Trial: t.Head.N, Latency: time.Duration(t.Head.N)})
		}
		data, digest, err := r.pack()
		Expect(err).NotTo(HaveOccurred())
		Expect(digest).To(HaveLen(64))
		return data
	}
	It("has the trials of several scenarios, each with its timings", func() {
		trials, timings, err := unpack(packed(trial("a", 2), trial("a", 3), trial("b", 1)))
		Expect(err).NotTo(HaveOccurred())
		Expect(trials).To(Equal([]record.Trial{trial("a", 2), trial("a", 3), trial("b", 1)}))
		Expect(timings).To(Equal([][]record.Timing{
			{{Scenario: "a", Trial: 2, Latency: 2}}, {{Scenario: "a", Trial: 3, Latency: 3}}, {{Scenario: "b", Trial: 1, Latency: 1}},
		}))
	})
	It("that is damaged is an error, wherever it is cut", func() {
		data := packed(trial("a", 1))
		for cut := range data {
			_, _, err := unpack(data[:cut])
			Expect(err).To(HaveOccurred(), fmt.Sprint(cut))
		}
	})
	It("does not depend on times in its digest", func() {
		lines, err := record.Encode(trial("a", 1))
		Expect(err).NotTo(HaveOccurred())
		_, one, err := (&result{lines: lines}).pack()
		Expect(err).NotTo(HaveOccurred())
		_, other, err := (&result{lines: lines, timings: []record.Timing{{Latency: 1}}}).pack()
		Expect(err).NotTo(HaveOccurred())
		Expect(other).To(Equal(one))
	})
})

var _ = Describe("an address", Label("H-04"), func() {
	DescribeTable("is refused without its password", func(ctx SpecContext, address, want string) {
		_, err := Open(ctx, address, 1)
		Expect(err).To(MatchError(ContainSubstring(want)))
		Expect(err.Error()).NotTo(ContainSubstring("s3cret"))
	},
		Entry("a file", "queue.db", "the queue needs PostgreSQL"), Entry("nothing", "", "the name of the store is empty"),
		Entry("a wrong port", "postgres://u:s3cret@127.0.0.1:no/db", "invalid address"),
		Entry("a wrong setting of the pool", "postgres://u:s3cret@127.0.0.1:1/db?pool_max_conns=many", "its settings of the pool are invalid"),
		Entry("several schemas", "postgres://u:s3cret@127.0.0.1:1/db?search_path=a,b", "the search_path must be one name"),
		Entry("no server", "postgres://u:s3cret@127.0.0.1:1/db?connect_timeout=2", "the server cannot be reached"),
	)
})
