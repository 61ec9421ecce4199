package hook_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
)

// history reads the decisions of a guard.
func (g guard) history(since time.Time) hook.History {
	GinkgoHelper()
	h, err := hook.ReadHistory(context.Background(), g.State, since)
	Expect(err).NotTo(HaveOccurred())
	return h
}

var _ = Describe("The history", func() {
	It("has each decision with its rules, and no text of the message", func() {
		g := newGuard()
		g.call(claude("s1", deferral("rotate the key sk-12345"), false))
		g.call(claude("s1", finished, true))
		h := g.history(time.Time{})
		Expect(h.Damaged).To(BeZero())
		Expect(h.Entries).To(HaveLen(2))
		e := h.Entries[0]
		Expect(e).To(HaveField("Decision", "blocked"))
		Expect(e).To(HaveField("Refused", true))
		Expect(e).To(HaveField("Rules", []string{"en.next"}))
		Expect(e).To(HaveField("Steps", 1))
		Expect(e.Host).To(Equal(hook.Claude))
		Expect(e.Time).To(Equal(g.Clock.Now().UTC()))
		Expect(h.Entries[1]).To(HaveField("Decision", "allowed"))
		data, err := os.ReadFile(filepath.Join(g.State, "history.jsonl"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(data)).NotTo(Or(ContainSubstring("rotate"), ContainSubstring("s1")))
		info, err := os.Stat(filepath.Join(g.State, "history.jsonl"))
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
	})

	It("has the text, without secrets, if it is asked to", func() {
		GinkgoT().Setenv("API_TOKEN", "hunter2-and-more")
		g := newGuard()
		g.LogText = true
		g.call(claude("s1", deferral("use hunter2-and-more"), false))
		Expect(g.history(time.Time{}).Entries[0].Text).To(And(ContainSubstring("Next I will use"), Not(ContainSubstring("hunter2"))))
	})

	It("has the period that is asked for", func() {
		g := newGuard()
		g.call(claude("s1", finished, false))
		Expect(g.history(g.Clock.Now()).Entries).To(HaveLen(1))
		Expect(g.history(g.Clock.Now().Add(time.Nanosecond)).Entries).To(BeEmpty())
		g.State = filepath.Join(g.State, "missing")
		Expect(g.history(time.Time{}).Entries).To(BeEmpty())
	})

	It("counts damaged lines, also one that a kill cut off", func() {
		g := newGuard()
		g.call(claude("s1", finished, false))
		file := filepath.Join(g.State, "history.jsonl")
		whole, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		bad := "no json\n{}\n[1]\n" + strings.Repeat("x", 100_000) + "\n" + `{"time":"2026-11-23T09:00:00Z","host":"nobody","decision":"blocked"}` + "\n"
		Expect(os.WriteFile(file, []byte(bad+string(whole)+string(whole[:40])), 0o600)).To(Succeed())
		g.call(claude("s2", finished, false))
		h := g.history(time.Time{})
		Expect(h.Entries).To(HaveLen(2))
		Expect(h.Damaged).To(Equal(6))
	})

	It("is bounded: a full file replaces the one before", func() {
		g := newGuard()
		file := filepath.Join(g.State, "history.jsonl")
		g.call(claude("s1", finished, false))
		line, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		full := strings.Repeat(string(line), 4<<20/len(line))
		for _, name := range []string{"history.jsonl", "history.1.jsonl"} {
			Expect(os.WriteFile(filepath.Join(g.State, name), []byte(full), 0o600)).To(Succeed())
		}
		g.call(claude("s2", finished, false))
		Expect(g.history(time.Time{}).Entries).To(HaveLen(strings.Count(full, "\n") + 1))
		info, err := os.Stat(file)
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Size()).To(BeNumerically("<", 2000))
	})

	It("does not keep the guard from refusing when it cannot be written", func() {
		g := newGuard()
		Expect(os.Mkdir(filepath.Join(g.State, "history.jsonl"), 0o700)).To(Succeed())
		stdout, stderr := g.call(claude("s1", deferral("write the tests"), false))
		Expect(stdout).To(ContainSubstring(`"decision":"block"`))
		Expect(stderr).To(ContainSubstring("record the decision"))
	})

	It("counts a stop once where the host reports the message before the stop", func() {
		g := newGuard()
		g.call(`{"hook_event_name":"afterAgentResponse","conversation_id":"c1","text":"` + "Next I will test." + `"}`)
		g.call(fmt.Sprintf(`{"hook_event_name":"stop","conversation_id":"c1","status":"completed","loop_count":%d}`, 0))
		h := g.history(time.Time{})
		Expect(h.Entries).To(HaveLen(1))
		Expect(h.Entries[0]).To(HaveField("Decision", "blocked"))
	})
})
