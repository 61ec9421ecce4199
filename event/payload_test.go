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

func TestPayloadReadsWhatAttrsWrote(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := attempt{
			Calls: rapid.IntRange(-1<<50, 1<<50).Draw(r, "calls"), Grade: rapid.String().Draw(r, "grade"),
			Cost: rapid.Float64Range(-1e9, 1e9).Draw(r, "cost"), Done: rapid.Bool().Draw(r, "done"),
		}
		got, err := event.Payload[attempt](event.Event{Attrs: event.Attrs(want)})
		if err != nil || got != want {
			r.Fatalf("got %+v, %v", got, err)
		}
	})
}

func TestPayload(t *testing.T) {
	g := NewWithT(t)
	g.Expect(event.Attrs(attempt{Calls: 2, Done: true})).To(Equal(map[string]any{"calls": 2.0, "done": true}), "empty fields may be left out")
	g.Expect(event.Payload[attempt](event.Event{Attrs: map[string]any{"calls": 3, "other": 1}})).To(Equal(attempt{Calls: 3}))
	_, err := event.Payload[attempt](event.Event{Kind: event.State, Name: "attempt", Attrs: map[string]any{"calls": "three"}})
	g.Expect(err).To(MatchError(ContainSubstring(`the attributes of the event state "attempt"`)))
	g.Expect(func() { event.Attrs("a text") }).To(PanicWith(ContainSubstring("cannot be encoded")))
}
