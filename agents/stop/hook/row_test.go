package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/clock"
)

// claude is Claude Code's input for a stop.
func claude(session, message string, active bool) string {
	GinkgoHelper()
	stdin, err := json.Marshal(map[string]any{
		"hook_event_name": "Stop", "session_id": session, "last_assistant_message": message, "stop_hook_active": active,
	})
	Expect(err).NotTo(HaveOccurred())
	return string(stdin)
}

var _ = Describe("A row of refusals", Label("G-12"), func() {
	It("begins anew when the host reports a new request of the user", func() {
		g := newGuard()
		for turn := range 3 {
			for i := range hook.DefaultCap + 1 {
				answer, _ := g.stop(hook.Claude, session(deferral(fmt.Sprintf("do %d.%d", turn, i)), i))
				Expect(answer.Blocked).To(Equal(i < hook.DefaultCap), "turn %d, stop %d", turn, i)
			}
		}
	})
	It("ends at the cap while the host reports refusals, whichever hook made them", func() {
		g := newGuard()
		blocked := 0
		for i := range 20 {
			if answer, _ := g.stop(hook.Codex, session(deferral(fmt.Sprint("do ", i)), i)); answer.Blocked {
				blocked++
			}
		}
		Expect(blocked).To(Equal(hook.DefaultCap))
	})
	It("begins anew after a stop that was let through, if the host does not report what came between", func() {
		for _, h := range []hook.Host{hook.Qwen, hook.OpenHands} {
			g := newGuard()
			for i := range 3 * (hook.DefaultCap + 1) {
				answer, _ := g.stop(h, session(deferral(fmt.Sprint("do ", i)), 0))
				Expect(answer.Blocked).To(Equal(i%(hook.DefaultCap+1) < hook.DefaultCap), "%s: stop %d", h, i)
			}
		}
	})
	It("ends with a message that may stop", func() {
		g := newGuard()
		for i := range 10 {
			message, want := deferral(fmt.Sprint("do ", i)), true
			if i%3 == 2 {
				message, want = finished, false
			}
			answer, _ := g.stop(hook.Codex, session(message, 1+i))
			Expect(answer.Blocked).To(Equal(want && i > 0), "stop %d", i) // of the first one's row nothing is known
		}
	})
	It("is forgotten after a day, as the run may have crashed", func() {
		g := newGuard()
		for i := range hook.DefaultCap {
			g.stop(hook.Codex, session(deferral(fmt.Sprint("do ", i)), i))
		}
		Expect(g.Clock.Sleep(context.Background(), 25*time.Hour)).To(Succeed())
		answer, _ := g.stop(hook.Codex, session(deferral("do more"), 3))
		Expect(answer.Blocked).To(BeTrue())
	})
	It("is separate for each session, host and subagent", func() {
		g := newGuard()
		g.Subagents = true
		stops := []struct {
			host hook.Host
			stop hook.Stop
		}{
			{hook.Claude, hook.Stop{Session: "a"}},
			{hook.Claude, hook.Stop{Session: "b"}},
			{hook.Codex, hook.Stop{Session: "a"}},
			{hook.Claude, hook.Stop{Session: "a", Agent: "1"}},
			{hook.Claude, hook.Stop{Session: "a", Agent: "2"}},
		}
		for i := range hook.DefaultCap + 1 {
			for _, s := range stops {
				s.stop.Message, s.stop.Blocks = deferral(fmt.Sprint("do ", i)), i
				answer, stderr := g.stop(s.host, s.stop)
				Expect(answer.Blocked).To(Equal(i < hook.DefaultCap), "%+v: %s", s, stderr)
			}
		}
	})
	It("is counted once if the guard is installed twice", func() {
		g := newGuard()
		blocked := 0
		for i := range 6 {
			s := session(deferral(fmt.Sprint("do ", i)), i)
			first, _ := g.stop(hook.Claude, s)
			second, _ := g.stop(hook.Claude, s)
			if first.Blocked || second.Blocked {
				blocked++
			}
		}
		Expect(blocked).To(Equal(hook.DefaultCap))
	})
	It("ignores blanks around a message", func() {
		g := newGuard()
		first, _ := g.stop(hook.Claude, session(deferral("write the tests"), 0))
		again, _ := g.stop(hook.Claude, session("\n "+deferral("write the tests")+" \n", 1))
		Expect([]bool{first.Blocked, again.Blocked}).To(Equal([]bool{true, false}))
	})
	It("never exceeds the cap, for any reports of the host and any messages", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			g := guard{hook.Config{Judge: judge, Clock: clock.NewVirtual(), Cap: rapid.IntRange(1, 4).Draw(t, "cap")}}
			g.State, _ = os.MkdirTemp("", "guard")
			defer os.RemoveAll(g.State)
			h := rapid.SampledFrom(hook.Hosts()).Draw(t, "host")
			row, last := 0, ""
			for i := range rapid.IntRange(1, 15).Draw(t, "stops") {
				message := finished
				if n := rapid.IntRange(0, 5).Draw(t, "message"); n > 0 {
					message = deferral(fmt.Sprint("do ", n))
				}
				active := i > 0 && row > 0 // the host tells the truth
				stdin, err := h.Input(hook.Stop{Session: "s", Message: message, Blocks: map[bool]int{true: row}[active]})
				if err != nil {
					t.Fatal(err)
				}
				if inTranscript(h) {
					stdin = bytes.Replace(stdin, []byte("{"), []byte(`{"last_assistant_message":`+fmt.Sprintf("%q", message)+","), 1)
				}
				stdout, _ := g.call(string(stdin))
				answer, err := h.ReadAnswer(0, []byte(stdout))
				switch {
				case err != nil:
					t.Fatal(err)
				case !answer.Blocked:
					row, last = 0, ""
					continue
				case message == finished:
					t.Fatal("a message that may stop was refused")
				case message == last:
					t.Fatal("a message was refused twice in a row")
				}
				if row++; row > g.Cap {
					t.Fatalf("%d refusals in a row, cap %d", row, g.Cap)
				}
				last = message
			}
		})
	})
})
