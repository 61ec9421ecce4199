package clock_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/clock"
)

var _ = Describe("virtual time", func() {
	var v *clock.Virtual
	BeforeEach(func() {
		v = clock.NewVirtual()
		before := gleak.Goroutines()
		DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
	})

	It("begins at a fixed moment and moves only by sleeping", func(ctx context.Context) {
		Expect(v.Now()).To(Equal(clock.Epoch))
		Expect(v.Sleep(ctx, 4*time.Hour)).To(Succeed())
		Expect(v.Elapsed()).To(Equal(4 * time.Hour))
		Expect(v.Now()).To(Equal(clock.Epoch.Add(4 * time.Hour)))
	})

	DescribeTable("a sleep of nothing returns at once",
		func(ctx context.Context, d time.Duration) {
			fired := false
			v.AfterFunc(0, func() { fired = true })
			Expect(v.Sleep(ctx, d)).To(Succeed())
			Expect(v.Elapsed()).To(BeZero())
			Expect(fired).To(BeFalse())
		},
		Entry("zero", time.Duration(0)), Entry("negative", -time.Hour),
	)

	It("fires timers in order of time, then of creation, each at its own time", func(ctx context.Context) {
		var fired []string
		var at []time.Duration
		note := func(name string) func() {
			return func() { fired, at = append(fired, name), append(at, v.Elapsed()) }
		}
		v.AfterFunc(3*time.Second, note("c"))
		v.AfterFunc(1*time.Second, note("a1"))
		v.AfterFunc(1*time.Second, note("a2"))
		v.AfterFunc(5*time.Second, note("end"))
		v.AfterFunc(5*time.Second+1, note("late"))
		Expect(v.Sleep(ctx, 5*time.Second)).To(Succeed())
		Expect(fired).To(Equal([]string{"a1", "a2", "c", "end"}))
		Expect(at).To(Equal([]time.Duration{time.Second, time.Second, 3 * time.Second, 5 * time.Second}))
	})

	It("fires what a timer starts within the same sleep", func(ctx context.Context) {
		ticks := 0
		var tick func()
		tick = func() { ticks++; v.AfterFunc(time.Second, tick) }
		v.AfterFunc(time.Second, tick)
		Expect(v.Sleep(ctx, 10*time.Second)).To(Succeed())
		Expect(ticks).To(Equal(10))
	})

	It("does not fire a timer that was stopped, wherever it stands", func(ctx context.Context) {
		var fired []int
		var stops []func()
		for i := range 9 {
			stops = append(stops, v.AfterFunc(time.Duration(i)*time.Second, func() { fired = append(fired, i) }))
		}
		for _, i := range []int{0, 8, 4} {
			stops[i]()
			stops[i]() // twice does no harm
		}
		Expect(v.Sleep(ctx, time.Minute)).To(Succeed())
		Expect(fired).To(Equal([]int{1, 2, 3, 5, 6, 7}))
		stops[1]() // nor does stopping what has fired
	})

	It("wakes a sleeper at the moment its context ends, with the cause", func(ctx context.Context) {
		stop := errors.New("the user stopped")
		ctx, cancel := context.WithCancelCause(ctx)
		v.AfterFunc(2*time.Second, func() { cancel(stop) })
		Expect(v.Sleep(ctx, time.Hour)).To(BeIdenticalTo(stop))
		Expect(v.Elapsed()).To(Equal(2 * time.Second))
		Expect(v.Sleep(ctx, time.Hour)).To(BeIdenticalTo(stop))
		Expect(v.Elapsed()).To(Equal(2*time.Second), "an ended context moves no time")
	})

	Describe("Forever", func() {
		It("lasts until the context's deadline", func(ctx context.Context) {
			ctx, cancel := v.WithTimeout(ctx, time.Minute)
			defer cancel()
			Expect(v.Sleep(ctx, clock.Forever)).To(BeIdenticalTo(context.DeadlineExceeded))
			Expect(v.Elapsed()).To(Equal(time.Minute))
		})

		It("is an error where nothing would ever end it", func(ctx context.Context) {
			Expect(v.Sleep(ctx, clock.Forever)).To(MatchError(clock.ErrStalled))
			v.AfterFunc(time.Minute, func() {})
			Expect(v.Sleep(ctx, clock.Forever)).To(MatchError(clock.ErrStalled), "a timer that ends nothing does not help")
			Expect(v.Elapsed()).To(Equal(time.Minute))
		})
	})

	It("may be read and slept on by many goroutines", func(ctx context.Context) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 100 {
					ctx, cancel := v.WithTimeout(ctx, time.Millisecond)
					_ = v.Sleep(ctx, time.Microsecond)
					_ = v.Now()
					cancel()
				}
			})
		}
		wg.Wait()
		Expect(v.Elapsed()).To(BeNumerically(">=", 100*time.Microsecond))
	})
})

var _ = Describe("a virtual deadline", func() {
	var v *clock.Virtual
	BeforeEach(func() { v = clock.NewVirtual() })

	It("ends the context with DeadlineExceeded, as error and as cause", func(ctx context.Context) {
		ctx, cancel := v.WithTimeout(ctx, time.Second)
		defer cancel()
		at, ok := ctx.Deadline()
		Expect(at).To(Equal(clock.Epoch.Add(time.Second)))
		Expect(ok).To(BeTrue())
		Expect(v.Sleep(ctx, time.Second-1)).To(Succeed())
		Expect(ctx.Err()).NotTo(HaveOccurred())
		Expect(v.Sleep(ctx, time.Hour)).To(BeIdenticalTo(context.DeadlineExceeded))
		Expect(v.Elapsed()).To(Equal(time.Second))
		Expect(ctx.Err()).To(BeIdenticalTo(context.DeadlineExceeded))
		Expect(clock.Err(ctx)).To(BeIdenticalTo(context.DeadlineExceeded))
		Expect(ctx.Done()).To(BeClosed())
	})

	It("wins over a sleep that ends at the same moment", func(ctx context.Context) {
		ctx, cancel := v.WithTimeout(ctx, time.Second)
		defer cancel()
		Expect(v.Sleep(ctx, time.Second)).To(BeIdenticalTo(context.DeadlineExceeded))
	})

	It("has passed by the time Sleep returns, in standard contexts derived from it too", func(ctx context.Context) {
		parent, cancel := v.WithTimeout(ctx, time.Second)
		defer cancel()
		child, stop := context.WithCancel(context.WithValue(parent, ctxKey{}, 1))
		defer stop()
		grandchild, stop2 := v.WithTimeout(child, time.Hour)
		defer stop2()
		Expect(v.Sleep(ctx, time.Second)).To(Succeed())
		for _, c := range []context.Context{parent, child, grandchild} {
			Expect(c.Done()).To(BeClosed())
			Expect(clock.Err(c)).To(BeIdenticalTo(context.DeadlineExceeded))
		}
		at, _ := grandchild.Deadline()
		Expect(at).To(Equal(clock.Epoch.Add(time.Second)), "the earlier deadline is the one that counts")
	})

	It("lets no real timer run in a standard timeout derived from it", func(ctx context.Context) {
		parent, cancel := v.WithTimeout(ctx, time.Second)
		defer cancel()
		child, stop := context.WithTimeout(parent, -time.Hour)
		defer stop()
		Expect(clock.Err(child)).NotTo(HaveOccurred(), "real time has passed, virtual time has not")
		Expect(v.Sleep(ctx, time.Second)).To(Succeed())
		Expect(clock.Err(child)).To(BeIdenticalTo(context.DeadlineExceeded))
	})

	It("keeps the parent's cause if that ends first", func(ctx context.Context) {
		stop := errors.New("the user stopped")
		parent, end := context.WithCancelCause(ctx)
		child, cancel := v.WithTimeout(parent, time.Hour)
		defer cancel()
		end(stop)
		Expect(clock.Err(child)).To(BeIdenticalTo(stop))
		Expect(child.Err()).To(BeIdenticalTo(context.Canceled))
	})

	It("is gone once cancelled", func(ctx context.Context) {
		child, cancel := v.WithTimeout(ctx, time.Second)
		cancel()
		cancel()
		Expect(clock.Err(child)).To(BeIdenticalTo(context.Canceled))
		Expect(v.Sleep(ctx, clock.Forever)).To(MatchError(clock.ErrStalled), "its timer is gone too")
		Expect(v.Elapsed()).To(BeZero())
	})

	DescribeTable("that has passed already ends the context at once",
		func(ctx context.Context, d time.Duration) {
			child, cancel := v.WithTimeout(ctx, d)
			defer cancel()
			Expect(clock.Err(child)).To(BeIdenticalTo(context.DeadlineExceeded))
			Expect(child.Err()).To(BeIdenticalTo(context.DeadlineExceeded))
		},
		Entry("zero", time.Duration(0)), Entry("negative", -time.Second),
	)
})

type ctxKey struct{}

var _ = It("fires any timers, started and stopped in any order, as a sorted list would", func() {
	rapid.Check(GinkgoT(), func(t *rapid.T) {
		type entry struct {
			at      time.Duration
			serial  int
			stopped bool
		}
		v := clock.NewVirtual()
		var model []entry
		var stops []func()
		var fired []int
		for i := range rapid.IntRange(0, 40).Draw(t, "timers") {
			at := time.Duration(rapid.IntRange(1, 20).Draw(t, "at"))
			model = append(model, entry{at: at, serial: i})
			stops = append(stops, v.AfterFunc(at, func() {
				if v.Elapsed() != at {
					t.Fatalf("timer of %d fired at %d", at, v.Elapsed())
				}
				fired = append(fired, i)
			}))
		}
		for i := range model {
			if rapid.Bool().Draw(t, "stop") {
				stops[i]()
				model[i].stopped = true
			}
		}
		until := time.Duration(rapid.IntRange(1, 25).Draw(t, "until"))
		if err := v.Sleep(context.Background(), until); err != nil || v.Elapsed() != until {
			t.Fatalf("slept %d of %d: %v", v.Elapsed(), until, err)
		}
		slices.SortStableFunc(model, func(a, b entry) int { return int(a.at - b.at) })
		var want []int
		for _, e := range model {
			if !e.stopped && e.at <= until {
				want = append(want, e.serial)
			}
		}
		if !slices.Equal(fired, want) {
			t.Fatalf("fired %v, want %v", fired, want)
		}
	})
})
