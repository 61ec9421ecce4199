package state_test

import (
	"encoding/json"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// names are file-0 up to file-(n-1).
func names(from, to int) (all []string) {
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprint("file-", i))
	}
	return all
}

// newWindow returns the empty window of a plan with that limit.
func newWindow(limit int) *state.Window {
	s, err := state.New(plan.Plan{Limits: plan.Limits{ContextFiles: limit}})
	if err != nil {
		panic(err)
	}
	return s.Window
}

// holding returns a window of so many files, file-0 used first.
func holding(limit, n int) *state.Window {
	w := newWindow(limit)
	w.Apply(w.Want(names(0, n), nil))
	return w
}

var _ = Describe("a window", func() {
	It("has a limit of 50 files by default", func() {
		Expect(newWindow(0).Max()).To(Equal(50))
		Expect(newWindow(3).Max()).To(Equal(3))
	})

	DescribeTable("evicts what is too many, least recently used first",
		func(files int) {
			w := newWindow(0)
			evicted := []string{}
			for _, file := range names(0, files) {
				c := w.Want([]string{file}, nil)
				Expect(c.Used).To(Equal([]string{file}))
				evicted = append(evicted, c.Evicted...)
				w.Apply(c)
			}
			Expect(w.Files()).To(Equal(names(max(0, files-50), files)))
			Expect(evicted).To(HaveExactElements(names(0, max(0, files-50))))
			Expect(w.Evicted()).To(HaveExactElements(evicted))

			By("and as well when all come at once")
			w = newWindow(0)
			c := w.Want(names(0, files), nil)
			Expect(c.Evicted).To(HaveExactElements(evicted))
			w.Apply(c)
			Expect(w.Files()).To(Equal(names(max(0, files-50), files)))
		},
		Entry("49 files", 49), Entry("50 files", 50), Entry("51 files", 51), Entry("500 files", 500),
	)

	It("counts a use of a file that it holds", func() {
		w := holding(3, 3)
		w.Apply(w.Want([]string{"file-0"}, nil))
		Expect(w.Files()).To(Equal([]string{"file-1", "file-2", "file-0"}))
		c := w.Want([]string{"new"}, nil)
		Expect(c).To(Equal(state.Change{Used: []string{"new"}, Evicted: []string{"file-1"}}))
	})

	It("keeps what is essential, be it old", func() {
		w := holding(3, 3)
		c := w.Want([]string{"new"}, []string{"file-0", "./file-1"})
		Expect(c.Evicted).To(Equal([]string{"file-2"}))
		w.Apply(c)
		Expect(w.Files()).To(Equal([]string{"file-0", "file-1", "new"}))
	})

	It("leaves out files when more are essential than it holds", func() {
		w := holding(3, 1)
		wanted := names(1, 6)
		c := w.Want(wanted, wanted)
		Expect(c).To(Equal(state.Change{
			Used: names(1, 4), Evicted: []string{"file-0"}, Left: names(4, 6),
		}))
		w.Apply(c)
		Expect(w.Files()).To(Equal(names(1, 4)))
	})

	It("restores a file once", func() {
		w := holding(2, 3)
		c := w.Want([]string{"file-0", "file-0", "./file-0"}, nil)
		Expect(c).To(Equal(state.Change{
			Used: []string{"file-0"}, Evicted: []string{"file-1"}, Restored: []string{"file-0"},
		}))
		w.Apply(c)
		Expect(w.Files()).To(Equal([]string{"file-2", "file-0"}))
		Expect(w.Evicted()).To(Equal([]string{"file-1"}))
	})

	It("does not call restored what leaves again at once", func() {
		w := holding(2, 3)
		c := w.Want([]string{"file-0"}, []string{"file-1", "file-2"})
		Expect(c.Restored).To(BeEmpty())
		w.Apply(c)
		Expect(w.Files()).To(Equal([]string{"file-1", "file-2"}))
	})

	It("evicts nothing when nothing can be saved", func() {
		w := holding(3, 2)
		c := w.Fit([]string{"file-0", "a", "b", "c"})
		Expect(c).To(Equal(state.Change{Used: []string{"file-0", "a"}, Left: []string{"b", "c"}}))
		w.Apply(c)
		Expect(w.Files()).To(Equal([]string{"file-1", "file-0", "a"}))
		Expect(w.Evicted()).To(BeEmpty())
		Expect(w.Fit([]string{"b"}).Empty()).To(BeTrue())
	})

	It("is looked over for files that nobody used since the last look", func() {
		w := holding(10, 4)
		look := w.Stale(nil)
		Expect(look).To(Equal(state.Change{Look: true}), "all were used since the beginning")
		Expect(look.Empty()).To(BeFalse())
		w.Apply(look)
		w.Apply(w.Want([]string{"file-1", "new"}, nil))
		look = w.Stale([]string{"file-2"})
		Expect(look.Evicted).To(Equal([]string{"file-0", "file-3"}))
		w.Apply(look)
		Expect(w.Files()).To(Equal([]string{"file-2", "file-1", "new"}))
		Expect(w.Stale(nil).Evicted).To(Equal([]string{"file-2", "file-1", "new"}))
	})

	It("knows a file by any way to write its path", func() {
		w := newWindow(0)
		w.Apply(w.Want([]string{"a/b", "a//b", "./a/c/../b", "", "a/b/"}, nil))
		Expect(w.Files()).To(Equal([]string{"a/b"}))
	})

	It("does not remember for ever what left", func() {
		w := newWindow(1)
		w.Apply(w.Want(names(0, 100), nil))
		Expect(w.Evicted()).To(Equal(names(79, 99)))
	})

	It("hands out what may be changed", func() {
		w := holding(2, 3)
		w.Files()[0], w.Evicted()[0] = "changed", "changed"
		Expect(w.Files()).To(Equal(names(1, 3)))
		Expect(w.Evicted()).To(Equal(names(0, 1)))
	})

	It("keeps its maximum when it takes over what another one held", func() {
		text, err := json.Marshal(holding(5, 6))
		Expect(err).NotTo(HaveOccurred())
		for limit, want := range map[int][]string{3: names(3, 6), 9: names(1, 6)} {
			w := newWindow(limit)
			Expect(json.Unmarshal(text, w)).To(Succeed())
			Expect(w.Max()).To(Equal(limit))
			Expect(w.Files()).To(Equal(want))
			Expect(w.Evicted()).To(HaveLen(6 - len(want)))
		}
		var w state.Window
		Expect(json.Unmarshal(text, &w)).To(Succeed())
		Expect(w.Max()).To(Equal(5))
	})

	DescribeTable("is put right when its text is not one of a window",
		func(text string, want []string) {
			var w state.Window
			Expect(json.Unmarshal([]byte(text), &w)).To(Succeed())
			Expect(w.Files()).To(HaveExactElements(want))
			w.Apply(w.Stale(nil))
			w.Apply(w.Want([]string{"new"}, nil))
			Expect(w.Files()).To(ContainElement("new"))
		},
		Entry("nothing", `{}`, []string{}),
		Entry("doubles", `{"max":3,"in":["a","./a","b"],"out":["b","c"]}`, []string{"a", "b"}),
		Entry("too many", `{"max":2,"in":["a","b","c"]}`, []string{"b", "c"}),
		Entry("fresher than it is full", `{"max":2,"in":["a"],"fresh":9}`, []string{"a"}),
		Entry("less than fresh", `{"max":2,"in":["a"],"fresh":-9}`, []string{"a"}),
	)

	It("refuses a text that is something else", func() {
		var w state.Window
		Expect(json.Unmarshal([]byte(`{"max":"many"}`), &w)).NotTo(Succeed())
	})
})

// What holds for any window, after anything that was done to it.
var _ = Describe("any window", func() {
	file := rapid.Map(rapid.IntRange(0, 25), func(i int) string { return fmt.Sprint("file-", i) })
	some := rapid.SliceOfN(file, 0, 12)

	It("never holds too much or anything twice, and loses nothing", Label("P-06"), func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			w := newWindow(rapid.IntRange(1, 9).Draw(t, "max"))
			known := map[string]bool{}
			t.Repeat(map[string]func(*rapid.T){
				"want": func(t *rapid.T) {
					named, essential := some.Draw(t, "named"), some.Draw(t, "essential")
					before := w.Files()
					c := w.Want(named, essential)
					Expect(w.Files()).To(Equal(before), "it changed by being asked")
					expectChange(w, c, named, essential)
					w.Apply(c)
					for _, file := range slices.Concat(c.Used, c.Evicted) {
						known[file] = true
					}
					for _, file := range c.Used {
						Expect(slices.Contains(w.Files(), file)).To(Equal(!slices.Contains(c.Evicted, file)))
					}
				},
				"fit": func(t *rapid.T) {
					before := w.Files()
					c := w.Fit(some.Draw(t, "named"))
					Expect(c.Evicted).To(BeEmpty())
					w.Apply(c)
					Expect(w.Files()).To(ContainElements(before))
					Expect(w.Files()).To(ContainElements(c.Used))
					for _, file := range c.Used {
						known[file] = true
					}
				},
				"look": func(t *rapid.T) {
					essential := some.Draw(t, "essential")
					c := w.Stale(essential)
					Expect(w.Files()).To(ContainElements(c.Evicted))
					for _, file := range essential {
						Expect(c.Evicted).NotTo(ContainElement(file))
					}
					w.Apply(c)
				},
				"anything": func(t *rapid.T) {
					c := state.Change{Used: some.Draw(t, "used"), Evicted: some.Draw(t, "evicted"), Look: rapid.Bool().Draw(t, "look")}
					w.Apply(c)
					for _, file := range slices.Concat(c.Used, c.Evicted) {
						known[file] = true
					}
				},
				"": func(*rapid.T) { expectWindow(w, known) },
			})
		})
	})

	It("is the same after it was stored, and when its changes are replayed", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			limit := rapid.IntRange(1, 9).Draw(t, "max")
			w, replayed := newWindow(limit), newWindow(limit)
			for range rapid.IntRange(0, 20).Draw(t, "steps") {
				c := w.Want(some.Draw(t, "named"), some.Draw(t, "essential"))
				if rapid.Bool().Draw(t, "look") {
					c = w.Stale(some.Draw(t, "essential"))
				}
				w.Apply(c)
				text, err := json.Marshal(c)
				Expect(err).NotTo(HaveOccurred())
				var again state.Change
				Expect(json.Unmarshal(text, &again)).To(Succeed())
				replayed.Apply(again)
			}
			text, err := json.Marshal(w)
			Expect(err).NotTo(HaveOccurred())
			stored := &state.Window{}
			Expect(json.Unmarshal(text, stored)).To(Succeed())
			for _, other := range []*state.Window{stored, replayed} {
				Expect(json.Marshal(other)).To(MatchJSON(text))
				Expect(other.Stale(nil)).To(Equal(w.Stale(nil)))
			}
		})
	})
})

// expectChange checks what Want answered.
func expectChange(w *state.Window, c state.Change, named, essential []string) {
	GinkgoHelper()
	Expect(slices.Concat(c.Used, c.Left)).To(ConsistOf(distinct(named)), "a file that was asked for is neither used nor left")
	for _, file := range essential {
		Expect(c.Evicted).NotTo(ContainElement(file), "something essential leaves")
	}
	in, out := w.Files(), w.Evicted()
	Expect(slices.Concat(in, c.Used)).To(ContainElements(c.Evicted))
	for _, file := range c.Restored {
		Expect(c.Used).To(ContainElement(file))
		Expect(out).To(ContainElement(file))
		Expect(c.Evicted).NotTo(ContainElement(file))
	}
	if len(c.Evicted) > 0 {
		all := len(distinct(slices.Concat(in, c.Used, c.Left)))
		Expect(len(c.Evicted)).To(BeNumerically("<=", all-w.Max()), "more leave than must")
	}
	if len(c.Left) > 0 {
		for _, file := range in {
			Expect(slices.Concat(essential, c.Used, c.Evicted)).To(ContainElement(file), "there was room")
		}
	}
}

func expectWindow(w *state.Window, known map[string]bool) {
	GinkgoHelper()
	in, out := w.Files(), w.Evicted()
	Expect(len(in)).To(BeNumerically("<=", w.Max()))
	Expect(in).To(HaveLen(w.Len()))
	both := slices.Concat(in, out)
	Expect(distinct(both)).To(HaveLen(len(both)), "a file is there twice")
	if len(known) <= 20*w.Max() { // none can be forgotten
		Expect(both).To(HaveLen(len(known)), "a file got lost")
	}
}

func distinct(files []string) []string {
	files = slices.Sorted(slices.Values(files))
	return slices.Compact(files)
}
