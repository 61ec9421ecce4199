package mocks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/onsi/ginkgo/v2" // not with a dot: it has a Report and a When, too
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

var _ = ginkgo.Describe("the phases of an exchange", ginkgo.Label("H-02"), func() {
	// same is a transition that changes nothing.
	type row [events]transition
	end := transition{closed, cancelFaults | closeRecord}
	release := transition{returned, cancelFaults | endReservation | putBack}
	endReserved := transition{closed, cancelFaults | endReservation | putBack | closeRecord}
	use := transition{used, endReservation | countUse}

	ginkgo.DescribeTable("follow each other after every event",
		func(p phase, want row) {
			for ev := range events {
				to, effects := next(p, ev)
				Expect(transition{to, effects}).To(Equal(want[ev]), "event %d", ev)
			}
		},
		//                                  faultFired      faultDropped   delivered       frameLost       abandoned       ended
		ginkgo.Entry("outside", outside, row{{outside, 0}, {outside, 0}, {outside, 0}, {outside, 0}, {outside, 0}, {closed, cancelFaults}}),
		ginkgo.Entry("unmatched", unmatched, row{{unmatched, 0}, {unmatched, 0}, {unmatched, 0}, {unmatched, 0}, {unmatched, 0}, {closed, closeRecord}}),
		ginkgo.Entry("answering", answering, row{{answering, 0}, {answering, 0}, use, {answering, 0}, release, endReserved}),
		ginkgo.Entry("faulted", faulted, row{release, {answering, advanceState}, {faulted, 0}, {faulted, 0}, release, endReserved}),
		ginkgo.Entry("faultOnly", faultOnly, row{use, {answering, 0}, use, {faultOnly, 0}, release, endReserved}),
		ginkgo.Entry("used", used, row{{used, 0}, {used, 0}, {used, 0}, {returned, discountUse | putBack}, {used, 0}, end}),
		ginkgo.Entry("returned", returned, row{{returned, 0}, {returned, 0}, {returned, 0}, {returned, 0}, {returned, 0}, end}),
		ginkgo.Entry("closed", closed, row{{closed, 0}, {closed, 0}, {closed, 0}, {closed, 0}, {closed, 0}, {closed, 0}}),
	)

	ginkgo.It("neither lose nor double a reservation or a use, whatever happens", func() {
		type place struct {
			phase          phase
			reserved, uses int
		}
		todo := []place{{outside, 0, 0}, {unmatched, 0, 0}, {answering, 1, 0}, {faulted, 1, 0}, {faultOnly, 1, 0}}
		seen := map[place]bool{}
		for len(todo) > 0 {
			at := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if seen[at] {
				continue
			}
			seen[at] = true
			reserved := 0
			if reserves(at.phase) {
				reserved = 1
			}
			Expect(at.reserved).To(Equal(reserved), "%+v", at)
			Expect(at.uses).To(BeNumerically("~", 0, 1), "%+v", at)
			Expect(at.reserved+at.uses).To(BeNumerically("<=", 1), "%+v", at)
			Expect(at.uses == 1 && at.phase != closed).To(Equal(at.phase == used), "%+v", at)
			for ev := range events {
				to, effects := next(at.phase, ev)
				after := place{phase: to, reserved: at.reserved, uses: at.uses}
				if effects&endReservation != 0 {
					after.reserved--
				}
				if effects&countUse != 0 {
					after.uses++
				}
				if effects&discountUse != 0 {
					after.uses--
				}
				// What is neither reserved nor used any more is available again.
				lost := at.reserved+at.uses == 1 && after.reserved+after.uses == 0
				available := effects&putBack == putBack
				Expect(available).To(Equal(lost), "%+v, event %d", at, ev)
				todo = append(todo, after)
			}
		}
		Expect(seen).To(HaveLen(9), "8 phases, the closed one with and without a use")
	})
})

// TestReservations lets several clients come, receive, lose and leave in any order, and
// counts what the engine has reserved and used against what they have.
func TestReservations(t *testing.T) {
	const text = "an answer of some words"
	kinds := []string{"status", "timeout", "malformed-json", "slow-drip", "missing-done", "empty-text"}
	rapid.Check(t, func(t *rapid.T) {
		line := func(i int) Line {
			l := Line{Times: rapid.IntRange(1, 3).Draw(t, "times")}
			if kind := rapid.SampledFrom(append(kinds, "")).Draw(t, "fault"); kind != "" {
				l.Fault = &Fault{Kind: kind}
			}
			if l.Fault == nil || rapid.Bool().Draw(t, "answered") {
				l.Text = text
			}
			if i == 0 && rapid.Bool().Draw(t, "moves") {
				l.Then = "second"
			}
			return l
		}
		s := Script{Rules: []Line{line(0), line(1)}}
		if rapid.Bool().Draw(t, "sequence") {
			s.Rules[0].Then = ""
			s = Script{Replies: s.Rules}
		}
		program, err := Compile(s)
		if err != nil {
			t.Skip(err)
		}
		injected := []Injection{
			{Call: 1, Name: "a", Fault: &Fault{Kind: rapid.SampledFrom(kinds).Draw(t, "injected"), Times: 2}},
			{Call: 2, Name: "b", Edit: func(s string) string { return s + "!" }, Kind: "edit"},
		}
		e := NewEngine(program, EngineOptions{Clock: clock.NewVirtual(), Inject: injected[:rapid.IntRange(0, 2).Draw(t, "injections")]})
		clients := newClients(t, e)
		t.Repeat(map[string]func(*rapid.T){
			"arrive": clients.arrive, "receive": clients.receive, "lose": clients.lose, "leave": clients.leave, "end": clients.end,
			"": func(t *rapid.T) { checkCounts(t, e) },
		})
		for len(clients.open) > 0 {
			clients.end(t)
		}
		checkCounts(t, e)
		for i, l := range e.lines {
			if l.reserved != 0 || l.armed != 0 {
				t.Fatalf("line %d has %d reservations and %d armed faults although nothing is under way", i, l.reserved, l.armed)
			}
		}
	})
}

// checkCounts compares the counters of an engine with one another.
func checkCounts(t *rapid.T, e *Engine) {
	reserved := make([]int, len(e.lines))
	for _, x := range e.pending {
		if !reserves(x.phase) {
			t.Fatalf("an exchange in phase %d is pending", x.phase)
		}
		reserved[x.line]++
	}
	total := 0
	for i, l := range e.lines {
		total += l.used
		limit := e.program.lines[i].limit
		switch {
		case l.reserved != reserved[i]:
			t.Fatalf("line %d counts %d reservations, and %d exchanges have one", i, l.reserved, reserved[i])
		case l.used < 0 || l.fired < 0 || l.armed < 0:
			t.Fatalf("line %d has a negative counter: %+v", i, l)
		case limit > 0 && l.used+l.reserved > limit:
			t.Fatalf("line %d is given to %d calls, and its limit is %d", i, l.used+l.reserved, limit)
		}
	}
	if total != e.used {
		t.Fatalf("the lines were used %d times, and the engine counts %d", total, e.used)
	}
}

// clients are callers of one engine.
type clients struct {
	engine *Engine
	open   []*caller
}

type caller struct {
	x     *Exchange
	leave context.CancelFunc
	next  int // frame
}

func newClients(t *rapid.T, e *Engine) *clients {
	c := &clients{engine: e}
	t.Cleanup(func() {
		for _, one := range c.open {
			one.leave()
		}
	})
	return c
}

func (c *clients) arrive(t *rapid.T) {
	body := fmt.Sprintf(`{"model":"m","stream":%t,"messages":[{"role":"user","content":"x"}]}`, rapid.Bool().Draw(t, "stream"))
	ctx, leave := context.WithCancel(context.Background())
	c.open = append(c.open, &caller{x: c.engine.Begin(ctx, wire.OpenAIChat{}, http.Header{}, []byte(body)), leave: leave})
}

// draw returns one of the clients, or skips the action.
func (c *clients) draw(t *rapid.T) *caller {
	if len(c.open) == 0 {
		t.Skip("nobody is there")
	}
	return c.open[rapid.IntRange(0, len(c.open)-1).Draw(t, "client")]
}

func (c *clients) receive(t *rapid.T) { c.send(t, nil) }
func (c *clients) lose(t *rapid.T)    { c.send(t, errors.New("lost")) }

// send hands over the next frame; after an error the client's player stops.
func (c *clients) send(t *rapid.T, result error) {
	one := c.draw(t)
	if one.next == len(one.x.Frames()) {
		t.Skip("it has all frames")
	}
	if one.x.Send(one.next, func() error { return result }) == nil {
		one.next++
	} else {
		one.next = len(one.x.Frames())
	}
}

func (c *clients) leave(t *rapid.T) { c.draw(t).leave() }

func (c *clients) end(t *rapid.T) {
	one := c.draw(t)
	one.x.End()
	one.x.End() // again changes nothing
	one.leave()
	for i := range c.open {
		if c.open[i] == one {
			c.open = append(c.open[:i], c.open[i+1:]...)
			return
		}
	}
}

// reserves reports whether an exchange in this phase has a line reserved.
func reserves(p phase) bool { return p == answering || p == faulted || p == faultOnly }
