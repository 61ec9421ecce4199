package hook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
)

var _ = Describe("The state folder", func() {
	It("contains the files of all sessions, whatever their names", func() {
		names := []string{"../../x", "/etc/passwd", "a\x00b", "", " ", ".", "..", strings.Repeat("x", 1<<20), "é\xff", "con", "a/b\\c:d*?"}
		above := GinkgoT().TempDir()
		g := newGuard()
		g.State = filepath.Join(above, "one", "two", "guard")
		for _, name := range names {
			g.call(claude(name, deferral("write the tests"), false))
		}
		var files []string
		Expect(filepath.WalkDir(above, func(path string, _ os.DirEntry, err error) error {
			files = append(files, path)
			return err
		})).To(Succeed())
		for _, file := range files[4:] { // after the folders
			Expect(file).To(MatchRegexp(`^` + above + `/one/two/guard/([0-9a-f]{32}\.json|history\.jsonl|\.lock)$`))
		}
		Expect(files[4:]).To(HaveLen(len(names) - 2 + 2)) // two names are none; the lock and the history
	})
	It("contains no word of a message or of a session", func() {
		g := newGuard()
		g.Log = filepath.Join(g.State, "log.jsonl")
		g.call(claude("my-secret-session", deferral("rotate the key sk-12345"), false))
		all := remembered(g.State)
		Expect(all).To(ContainSubstring(`"blocks":1`))
		Expect(all).NotTo(Or(ContainSubstring("sk-12345"), ContainSubstring("rotate"), ContainSubstring("my-secret-session")))
		info, err := os.Stat(filepath.Join(g.State, "log.jsonl"))
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
	})
	Describe("is swept", func() {
		var g guard
		BeforeEach(func() { g = newGuard() })
		sessions := func() []string {
			GinkgoHelper()
			files, err := filepath.Glob(filepath.Join(g.State, "[^.]*.json"))
			Expect(err).NotTo(HaveOccurred())
			return files
		}
		begin := func(names string, n int) {
			GinkgoHelper()
			for i := range n {
				_, stderr := g.call(claude(fmt.Sprint(names, i), finished, false))
				Expect(stderr).To(BeEmpty())
			}
		}
		later := func(d time.Duration) {
			GinkgoHelper()
			Expect(g.Clock.Sleep(context.Background(), d)).To(Succeed())
		}

		It("of sessions that ended a month ago, and of no other files", func() {
			begin("old", 1)
			old := sessions()
			Expect(old).To(HaveLen(1))
			mine := filepath.Join(g.State, "notes.json")
			Expect(os.WriteFile(mine, nil, 0o600)).To(Succeed())
			Expect(os.Chtimes(mine, time.Time{}, g.Clock.Now())).To(Succeed())
			later(29 * 24 * time.Hour)
			begin("young", 100) // some of which look
			Expect(sessions()).To(ContainElement(old[0]))
			later(2 * 24 * time.Hour)
			begin("new", 100)
			Expect(sessions()).To(And(HaveLen(201), ContainElement(mine), Not(ContainElement(old[0]))))
		})
		It("of temporary files that a crash left", func() {
			begin("first", 1)
			left := sessions()[0] + ".123.tmp"
			Expect(os.WriteFile(left, nil, 0o600)).To(Succeed())
			Expect(os.Chtimes(left, time.Time{}, g.Clock.Now())).To(Succeed())
			begin("soon", 100)
			Expect(left).To(BeAnExistingFile(), "it may be in use")
			later(2 * time.Hour)
			begin("later", 100)
			Expect(left).NotTo(BeAnExistingFile())
		})
		It("of the oldest when there are more than a thousand", func() {
			begin("old", 1)
			old := sessions()[0]
			later(time.Minute)
			begin("new", 990)
			for i := range 40 {
				begin(fmt.Sprint("newer ", i, "."), 1)
				Expect(len(sessions())).To(BeNumerically("<=", 1000))
			}
			Expect(len(sessions())).To(BeNumerically(">=", 900))
			Expect(sessions()).NotTo(ContainElement(old))
		})
	})
	It("does not follow a link in place of a session's file", func() {
		g := newGuard()
		g.call(claude("s", finished, false))
		files, err := filepath.Glob(filepath.Join(g.State, "*.json"))
		Expect(err).NotTo(HaveOccurred())
		precious := filepath.Join(GinkgoT().TempDir(), "precious")
		Expect(os.Rename(files[0], precious)).To(Succeed())
		before, err := os.ReadFile(precious)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.Symlink(precious, files[0])).To(Succeed())
		_, stderr := g.call(claude("s", deferral("a"), true))
		Expect(stderr).To(ContainSubstring("nothing is known"))
		Expect(os.ReadFile(precious)).To(Equal(before))
	})
	It("counts correctly for two hooks of one session at once", func() {
		g := newGuard()
		g.Cap = 100
		const hooks, stops = 8, 10
		var working sync.WaitGroup
		var mu sync.Mutex
		blocked := 0
		for i := range hooks {
			working.Go(func() {
				defer GinkgoRecover()
				for n := range stops {
					stdout, stderr := g.call(claude("s", deferral(fmt.Sprint("do ", i, ".", n)), i+n > 0))
					mu.Lock()
					if stdout != "" {
						blocked++
					} else {
						Expect(stderr).To(ContainSubstring("nothing is known"))
					}
					mu.Unlock()
				}
			})
		}
		working.Wait()
		counts, err := hook.Tallies(context.Background(), g.State)
		Expect(err).NotTo(HaveOccurred())
		Expect(counts).To(HaveLen(1))
		Expect(counts[0].Blocked).To(Equal(blocked), "no count is lost")
		Expect(counts[0].Blocked + counts[0].Orphaned).To(Equal(hooks * stops))
	})
})

var _ = Describe("The shadow mode", func() {
	It("refuses nothing, and counts and logs what it would have refused", func() {
		g := newGuard()
		g.Shadow, g.Log = true, filepath.Join(GinkgoT().TempDir(), "stops.jsonl")
		messages := []string{deferral("a"), finished, deferral("b"), deferral("b"), deferral("c"), deferral("d"), deferral("e")}
		for _, message := range messages {
			stdout, stderr := g.call(claude("s", message, false))
			Expect(stdout).To(BeEmpty(), stderr)
		}
		counts, err := hook.Tallies(context.Background(), g.State)
		Expect(err).NotTo(HaveOccurred())
		Expect(counts).To(Equal([]hook.Tally{{Host: hook.Claude, Sessions: 1, Allowed: 1, WouldBlock: 5, Repeated: 1}}))

		data, err := os.ReadFile(g.Log)
		Expect(err).NotTo(HaveOccurred())
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		Expect(lines).To(HaveLen(len(messages)))
		Expect(lines[0]).To(MatchJSON(`{"time":"2026-01-01T00:00:00Z","host":"claude","session":"` + field(lines[0], "session") +
			`","message":"` + field(lines[0], "message") + `","policy":"balanced","class":"defers","score":0.98,"would_block":true,"outcome":"would-block"}`))
		Expect(field(lines[1], "outcome")).To(Equal("allowed"))
		Expect(field(lines[0], "session")).To(MatchRegexp("^[0-9a-f]{32}$"))
		Expect(field(lines[2], "message")).To(And(Equal(field(lines[3], "message")), Not(Equal(field(lines[0], "message")))))
	})
	It("reports that it cannot log, and still judges", func() {
		g := newGuard()
		g.Log = GinkgoT().TempDir()
		stdout, stderr := g.call(claude("s", finished, false))
		Expect(stdout).To(BeEmpty())
		Expect(stderr).To(ContainSubstring("log the stop"))
		stdout, _ = g.call(claude("s", deferral("a"), false))
		Expect(stdout).NotTo(BeEmpty())
	})
	It("has no counts before the first stop", func() {
		Expect(hook.Tallies(context.Background(), filepath.Join(GinkgoT().TempDir(), "none"))).To(BeEmpty())
	})
})

func field(line, name string) string {
	GinkgoHelper()
	var fields map[string]any
	Expect(json.Unmarshal([]byte(line), &fields)).To(Succeed())
	return fmt.Sprint(fields[name])
}
