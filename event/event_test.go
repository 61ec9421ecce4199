package event_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
)

func TestEvent(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "event")
}

// Recordings store events as JSON.
var _ = DescribeTable("An event survives a round trip through JSON",
	func(e event.Event, want string) {
		encoded, err := json.Marshal(e)
		Expect(err).NotTo(HaveOccurred())
		Expect(encoded).To(MatchJSON(want))
		var back event.Event
		Expect(json.Unmarshal(encoded, &back)).To(Succeed())
		Expect(back).To(Equal(e))
	},
	Entry("with every field",
		event.Event{Kind: event.Guard, Name: "no-progress", N: 3, Detail: "3 identical answers", Attrs: map[string]any{"limit": 3.0, "hash": "ab", "on": true}},
		`{"kind": "guard", "name": "no-progress", "n": 3, "detail": "3 identical answers", "attrs": {"limit": 3, "hash": "ab", "on": true}}`),
	Entry("with only a kind", event.Event{Kind: event.HandOver}, `{"kind": "hand-over"}`),
)

var _ = It("passes every event to a function, in order", func() {
	var emitted []event.Kind
	for _, sink := range []event.Sink{event.SinkFunc(func(e event.Event) { emitted = append(emitted, e.Kind) }), event.Discard} {
		sink.Emit(event.Event{Kind: event.Iteration})
		sink.Emit(event.Event{Kind: event.End})
	}
	Expect(emitted).To(Equal([]event.Kind{event.Iteration, event.End}))
})
