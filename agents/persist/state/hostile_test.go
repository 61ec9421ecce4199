package state_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// three returns a plan of three tasks, one after another.
func three() plan.Plan {
	p := plan.Plan{Name: "three", Tasks: []plan.Task{
		{ID: "a", Do: "Do a."}, {ID: "b", Do: "Do b.", After: []string{"a"}}, {ID: "c", Do: "Do c.", After: []string{"a", "b"}},
	}}
	p.Limits.CheckEvery = 2
	return p
}

// part returns what a supervisor wrote until after so many records.
func part(n int) *supervisor {
	GinkgoHelper()
	s, err := newSupervisor(three())
	Expect(err).NotTo(HaveOccurred())
	Expect(s.put(state.Record{Kind: state.KindBegin, Plan: "digest"})).To(Succeed())
	for len(s.records) < n {
		Expect(s.move(s.state.Next())).To(Succeed())
	}
	return s
}

var _ = Describe("A record that does not follow from the earlier ones", Label("P-05"), func() {
	DescribeTable("is refused, and changes nothing",
		func(after int, r state.Record) {
			s := part(after).state
			before, err := s.Snapshot()
			Expect(err).NotTo(HaveOccurred())
			Expect(s.Apply(r)).To(MatchError(ContainSubstring("does not fit the journal")))
			now, err := s.Snapshot()
			Expect(err).NotTo(HaveOccurred())
			Expect(now).To(Equal(before))
		},
		Entry("a second begin", 1, state.Record{Kind: state.KindBegin, Plan: "digest"}),
		Entry("of no kind", 1, state.Record{Kind: "dance"}),
		Entry("an intent out of turn", 1, state.Record{Kind: state.KindIntent, Task: "b", Attempt: 1}),
		Entry("an intent of nobody", 1, state.Record{Kind: state.KindIntent, Task: "z", Attempt: 1}),
		Entry("a second intent", 2, state.Record{Kind: state.KindIntent, Task: "a", Attempt: 2}),
		Entry("an outcome without an intent", 1, state.Record{Kind: state.KindOutcome, Task: "a", Outcome: &state.Outcome{Grade: "done"}}),
		Entry("an outcome of another task", 2, state.Record{Kind: state.KindOutcome, Task: "b", Outcome: &state.Outcome{Grade: "done"}}),
		Entry("an empty outcome", 2, state.Record{Kind: state.KindOutcome, Task: "a"}),
		Entry("an outcome of no grade", 2, state.Record{Kind: state.KindOutcome, Task: "a", Outcome: &state.Outcome{Grade: "great"}}),
		Entry("a round with a task that is done", 3, state.Record{Kind: state.KindDerive, Tasks: []state.Derived{{ID: "a"}}}),
		Entry("a round with a task of the plan made anew", 3, state.Record{Kind: state.KindDerive, Tasks: []state.Derived{{ID: "a", Do: "x"}}}),
		Entry("a round with a task twice", 3, state.Record{Kind: state.KindDerive, Tasks: []state.Derived{{ID: "x", Do: "x"}, {ID: "x", Do: "x"}}}),
		Entry("an empty end", 3, state.Record{Kind: state.KindEnd}),
	)

	It("is refused where nothing was begun", func() {
		s, err := state.New(three())
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Apply(state.Record{Kind: state.KindReopen})).To(MatchError(ContainSubstring("does not fit the journal")))
	})
})

var _ = Describe("A snapshot that is not one of the plan", func() {
	DescribeTable("is refused",
		func(change func(string) string) {
			data, err := part(3).state.Snapshot()
			Expect(err).NotTo(HaveOccurred())
			changed := change(string(data))
			Expect(changed).NotTo(Equal(string(data)))
			_, err = state.Restore(three(), []byte(changed))
			Expect(err).To(MatchError(ContainSubstring("reading the snapshot of the state")))
		},
		Entry("cut off", func(s string) string { return s[:len(s)/2] }),
		Entry("of fewer tasks", func(s string) string { return strings.Replace(s, `"stages":"dww"`, `"stages":"dw"`, 1) }),
		Entry("with fewer attempts", func(s string) string { return strings.Replace(s, `"attempts":[1,0,0]`, `"attempts":[1]`, 1) }),
		Entry("with another stage", func(s string) string { return strings.Replace(s, `"stages":"dww"`, `"stages":"dwq"`, 1) }),
		Entry("with a task that is not there under way", func(s string) string { return strings.Replace(s, `"running":-1`, `"running":7`, 1) }),
		Entry("with a done task under way", func(s string) string { return strings.Replace(s, `"running":-1`, `"running":0`, 1) }),
		Entry("with no segment", func(s string) string { return strings.Replace(s, `"segment":1`, `"segment":0`, 1) }),
	)
})

var _ = Describe("A plan that Next could not work on", func() {
	DescribeTable("is refused", func(p plan.Plan, want string) {
		_, err := state.New(p)
		Expect(err).To(MatchError(ContainSubstring(want)))
	},
		Entry("an id twice", plan.Plan{Tasks: []plan.Task{{ID: "a"}, {ID: "a"}}}, `the task "a" twice`),
		Entry("an unknown dependency", plan.Plan{Tasks: []plan.Task{{ID: "a", After: []string{"z"}}}}, `"a" comes after "z"`),
	)

	It("is blocked if its tasks wait for each other", func() {
		s, err := newSupervisor(plan.Plan{Tasks: []plan.Task{{ID: "a", After: []string{"b"}}, {ID: "b", After: []string{"a"}}}})
		Expect(err).NotTo(HaveOccurred())
		end, err := s.run(100)
		Expect(err).NotTo(HaveOccurred())
		Expect(end.Status).To(Equal("blocked"))
	})
})

var _ = Describe("The text of a record", func() {
	It("keeps its beginning and its end within the bound, as valid UTF-8", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			const most = 1 << 10
			anyBytes := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 3*most), func(b []byte) string { return string(b) })
			text := rapid.OneOf(rapid.String(), rapid.StringN(most/2, 2*most, -1), anyBytes).Draw(t, "text")
			got := state.Record{Outcome: &state.Outcome{Details: text}}.Bounded().Outcome.Details
			valid := strings.ToValidUTF8(text, "\uFFFD")
			switch {
			case !utf8.ValidString(got) || len(got) > most:
				t.Fatalf("%q", got)
			case len(valid) <= most && got != valid:
				t.Fatalf("%q is not %q", got, valid)
			case len(valid) > most:
				head, tail, cut := strings.Cut(got, " […] ")
				if !cut || !strings.HasPrefix(valid, head) || !strings.HasSuffix(valid, tail) || len(got) < most-8 {
					t.Fatalf("%q of %q", got, valid)
				}
			}
		})
	})
})

// FuzzState replays hostile journals and snapshots: no state panics, whatever it is
// made of, and what it decides can be carried out.
func FuzzState(f *testing.F) {
	s, err := newSupervisor(three())
	if err != nil {
		f.Fatal(err)
	}
	if _, err := s.run(100); err != nil {
		f.Fatal(err)
	}
	var lines [][]byte
	for _, r := range s.records {
		line, err := r.Encode()
		if err != nil {
			f.Fatal(err)
		}
		lines = append(lines, line)
	}
	snap, err := s.state.Snapshot()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(snap, bytes.Join(lines, []byte("\n")))
	f.Add([]byte{}, bytes.Join(lines, []byte("\n")))
	f.Add(snap, []byte(`{"kind":"reopen"}`))
	f.Add([]byte{}, []byte(`{"kind":"begin","plan":"x"}`+"\n"+`{"kind":"derive","tasks":[{"id":"x","do":"x"}]}`+"\n"+`{"kind":"check"}`))
	f.Fuzz(func(t *testing.T, snapshot, journal []byte) {
		s, err := state.Restore(three(), snapshot)
		if err != nil {
			if s, err = state.New(three()); err != nil {
				t.Fatal(err)
			}
		}
		for line := range bytes.Lines(journal) {
			if r, err := state.Decode(line); err == nil {
				_ = s.Apply(r)
			}
			look(s)
		}
		look(s)
	})
}

// look asks all that a state answers.
func look(s *state.State) {
	s.Look(0)
	for _, info := range plan.Checks() {
		s.Own(info.Name, false, false)
	}
	move := s.Next()
	if move.Kind == state.KindIntent {
		s.Task(move.Task)
		s.Essential(move.Task)
	}
	if data, err := s.Snapshot(); err != nil || len(data) == 0 {
		panic("no snapshot")
	}
}
