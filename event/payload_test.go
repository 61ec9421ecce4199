package event_test

import (
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/event"
)

type attempt struct {
	Calls int     `json:"calls"`
	Grade string  `json:"grade,omitempty"`
	Cost  float64 `json:"cost,omitempty"`
	Done  bool    `json:"done"`
}

func (attempt) Event() (event.Kind, string) { return event.Iteration, "attempt" }

// guarded is a payload whose event has different names.
type guarded struct {
	Name string `json:"-"`
	Task string `json:"task"`
}

func (g guarded) Event() (event.Kind, string) { return event.Guard, g.Name }

// text is not a JSON object.
type text string

func (text) Event() (event.Kind, string) { return event.State, "text" }

func TestReadReturnsWhatNewWrote(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := attempt{
			Calls: rapid.IntRange(-1<<50, 1<<50).Draw(r, "calls"), Grade: rapid.String().Draw(r, "grade"),
			Cost: rapid.Float64Range(-1e9, 1e9).Draw(r, "cost"), Done: rapid.Bool().Draw(r, "done"),
		}
		e := event.New(3, "why", want)
		if got, ok := event.Read[attempt](&e); !ok || got != want || e.N != 3 || e.Detail != "why" {
			r.Fatalf("got %+v of %+v", got, e)
		}
	})
}

func TestPayload(t *testing.T) {
	g := NewWithT(t)
	e := event.New(0, "", attempt{Calls: 2, Done: true})
	g.Expect(e).To(Equal(event.Event{Kind: event.Iteration, Name: "attempt", Attrs: map[string]any{"calls": 2, "done": true}}))
	e.Attrs = map[string]any{"calls": 3, "other": 1} // as an older version may have emitted it
	got, ok := event.Read[attempt](&e)
	g.Expect(got).To(Equal(attempt{Calls: 3}))
	g.Expect(ok).To(BeTrue())
	for _, other := range []event.Event{
		{Kind: event.State, Name: "attempt"},
		{Kind: event.Iteration, Name: "task"},
		{Kind: event.Iteration, Name: "attempt", Attrs: map[string]any{"calls": "three"}},
	} {
		_, ok := event.Read[attempt](&other)
		g.Expect(ok).To(BeFalse(), "%v", other)
	}
	guard := event.New(0, "", guarded{Name: "stagnation", Task: "a"})
	g.Expect(guard).To(Equal(event.Event{Kind: event.Guard, Name: "stagnation", Attrs: map[string]any{"task": "a"}}))
	read, ok := event.Read[guarded](&guard)
	g.Expect(read).To(Equal(guarded{Task: "a"}))
	g.Expect(ok).To(BeTrue(), "any name is read")
	g.Expect(func() { event.New(0, "", text("one")) }).To(PanicWith(ContainSubstring("cannot be encoded")))
}
