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

// Recordings hold events, so their JSON form is a promise.
var _ = DescribeTable("an event survives a round trip through JSON",
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
	Entry("with a kind alone", event.Event{Kind: event.HandOver}, `{"kind": "hand-over"}`),
)

var _ = It("tells a function every event in order, and Discard none", func() {
	var told []event.Kind
	for _, sink := range []event.Sink{event.SinkFunc(func(e event.Event) { told = append(told, e.Kind) }), event.Discard} {
		sink.Emit(event.Event{Kind: event.Iteration})
		sink.Emit(event.Event{Kind: event.End})
	}
	Expect(told).To(Equal([]event.Kind{event.Iteration, event.End}))
})
