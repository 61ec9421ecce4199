package hook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// turn is one call of a golden case.
type turn struct {
	stop hook.Stop
	raw  string // sent in place of the stop, if set
	// blocked is whether the agent must go on, and notes what standard error must
	// say; empty: nothing.
	blocked bool
	notes   string
}

// story is a case that every host must pass, each in its own contract.
type story struct {
	name   string
	config func(*hook.Config)
	turns  func(h hook.Host) []turn
}

// flagless hosts do not say that an agent was sent back.
func flagless(h hook.Host) bool { return h == hook.OpenHands }

func session(message string, blocks int) hook.Stop {
	return hook.Stop{Session: "session-1", Message: message, Blocks: blocks}
}

var stories = []story{
	{name: "allow", turns: func(hook.Host) []turn {
		return []turn{{stop: session(finished, 0)}}
	}},
	{name: "block", turns: func(hook.Host) []turn {
		return []turn{{stop: session(deferral("write the tests"), 0), blocked: true}, {stop: session(finished, 1)}}
	}},
	{name: "capped", turns: func(hook.Host) []turn {
		return []turn{
			{stop: session(deferral("write the tests"), 0), blocked: true},
			{stop: session(deferral("run the tests"), 1), blocked: true},
			{stop: session(deferral("write the docs"), 2), blocked: true},
			{stop: session(deferral("deploy it"), 3), notes: "sent back 3 times in a row"},
		}
	}},
	{name: "identical", turns: func(hook.Host) []turn {
		return []turn{
			{stop: session(deferral("write the tests"), 0), blocked: true},
			{stop: session(deferral("write the tests"), 1), notes: "for this message before"},
		}
	}},
	{name: "flag-of-another-hook", turns: func(hook.Host) []turn {
		return []turn{
			{stop: session(finished, 0)},
			{stop: session(deferral("write the tests"), 1), blocked: true},
		}
	}},
	{name: "flag-and-nothing-known", turns: func(h hook.Host) []turn {
		first := turn{stop: session(deferral("write the tests"), 1), notes: "nothing is known of that"}
		if flagless(h) {
			first = turn{stop: session(deferral("write the tests"), 1), blocked: true}
		}
		return []turn{first}
	}},
	{name: "skip", turns: func(h hook.Host) []turn {
		s := session(deferral("write the tests"), 0)
		switch h {
		case hook.Claude, hook.Codex, hook.Qwen:
			s.Mode = "plan"
		case hook.Copilot, hook.Cursor:
			s.Status = "aborted"
		default: // these say nothing of the kind
			return []turn{{raw: renamed(h, s)}}
		}
		return []turn{{stop: s}, {raw: renamed(h, session(deferral("write the tests"), 0))}}
	}},
	{name: "bad-input", turns: func(h hook.Host) []turn {
		return []turn{{raw: `{"session_id": "session-1", "last_assistant`, notes: "read the host's JSON"}}
	}},
	{name: "missing-fields", turns: func(hook.Host) []turn {
		return []turn{{raw: `{"unknown": [1, 2]}`, notes: "names no session"}}
	}},
	{name: "no-message", turns: func(hook.Host) []turn {
		return []turn{{stop: hook.Stop{Session: "session-1"}, notes: "no last message"}}
	}},
	{name: "shadow", config: func(c *hook.Config) { c.Shadow = true }, turns: func(hook.Host) []turn {
		return []turn{{stop: session(deferral("write the tests"), 0)}}
	}},
}

// renamed returns an event of the host that is no stop.
func renamed(h hook.Host, s hook.Stop) string {
	GinkgoHelper()
	stdin, err := h.Input(s)
	Expect(err).NotTo(HaveOccurred())
	var fields map[string]any
	Expect(json.Unmarshal(stdin, &fields)).To(Succeed())
	name := "hook_event_name"
	if h == hook.OpenHands {
		name = "event_type"
	}
	fields[name] = "SessionEnd"
	out, err := json.Marshal(fields)
	Expect(err).NotTo(HaveOccurred())
	return string(out)
}

// inTranscript reports whether the host sends the message only by its transcript.
func inTranscript(h hook.Host) bool { return h == hook.Copilot || h == hook.Cursor }

var _ = Describe("the contract", Label("G-12"), func() {
	for _, h := range hook.Hosts() {
		for _, g := range stories {
			It(fmt.Sprintf("of %s: %s", h, g.name), func() {
				dir := GinkgoT().TempDir()
				guard := newGuard()
				guard.Host = h
				if g.config != nil {
					g.config(&guard.Config)
				}
				seen := &txtar.Archive{Comment: fmt.Appendf(nil, "%s: %s. Written by the golden spec.\n", h, g.name)}
				for i, t := range g.turns(h) {
					stdin := t.raw
					if stdin == "" {
						stdin = input(h, t.stop, dir)
					}
					stdout, stderr := guard.call(stdin)
					answer, err := h.ReadAnswer(0, []byte(stdout))
					Expect(err).NotTo(HaveOccurred(), stdout)
					Expect(answer.Blocked).To(Equal(t.blocked), stderr)
					if t.blocked {
						Expect(answer.Reason).To(ContainSubstring("You wrote (quoted; this gives no permission)"))
					}
					if t.notes == "" {
						Expect(stderr).To(BeEmpty())
					} else {
						Expect(stderr).To(HavePrefix("rehearse guard: the agent may stop"))
						Expect(stderr).To(And(ContainSubstring(t.notes), HaveSuffix("\n")))
						Expect(strings.Count(stderr, "\n")).To(Equal(1))
					}
					for _, part := range []struct{ name, text string }{{"stdin", stdin}, {"stdout", stdout}, {"stderr", stderr}} {
						text := strings.ReplaceAll(part.text, dir, "$DIR")
						seen.Files = append(seen.Files, txtar.File{Name: fmt.Sprintf("%d.%s", i+1, part.name), Data: []byte(text)})
					}
				}
				golden.Expect(filepath.Join(string(h), g.name+".txtar"), txtar.Format(seen))
			})
		}
	}
})

// input returns a host's input, with the transcript where the host has one.
func input(h hook.Host, s hook.Stop, dir string) string {
	GinkgoHelper()
	if inTranscript(h) && s.Message != "" {
		content, err := h.Transcript("", s.Message)
		Expect(err).NotTo(HaveOccurred())
		s.Transcript = filepath.Join(dir, "transcript.jsonl")
		Expect(os.WriteFile(s.Transcript, content, 0o600)).To(Succeed())
	}
	stdin, err := h.Input(s)
	Expect(err).NotTo(HaveOccurred())
	return string(stdin)
}

var _ = It("has no golden file without a case", func() {
	var want []string
	for _, h := range hook.Hosts() {
		for _, g := range stories {
			want = append(want, filepath.Join("testdata", string(h), g.name+".txtar"))
		}
		want = append(want, filepath.Join("testdata", string(h), "settings.json"))
	}
	var got []string
	for _, h := range hook.Hosts() {
		files, err := filepath.Glob(filepath.Join("testdata", string(h), "*"))
		Expect(err).NotTo(HaveOccurred())
		got = append(got, files...)
	}
	Expect(got).To(ConsistOf(want))
})
