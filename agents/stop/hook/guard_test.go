package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing/iotest"
	"time"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/agents/stop/hook/host"
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

var _ = Describe("a row of refusals", Label("G-12"), func() {
	It("begins anew when the host says that the user asked again", func() {
		g := newGuard()
		for turn := range 3 {
			for i := range hook.DefaultCap + 1 {
				answer, _ := g.stop(hook.Claude, session(deferral(fmt.Sprintf("do %d.%d", turn, i)), i))
				Expect(answer.Blocked).To(Equal(i < hook.DefaultCap), "turn %d, stop %d", turn, i)
			}
		}
	})
	It("ends at the cap while the host says that the agent was sent back, whoever does it", func() {
		g := newGuard()
		blocked := 0
		for i := range 20 {
			if answer, _ := g.stop(hook.Codex, session(deferral(fmt.Sprint("do ", i)), i)); answer.Blocked {
				blocked++
			}
		}
		Expect(blocked).To(Equal(hook.DefaultCap))
	})
	It("begins anew after a stop that was let through, if the host does not say what came between", func() {
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
	It("is forgotten after a day: a run that crashed says nothing about a later one", func() {
		g := newGuard()
		for i := range hook.DefaultCap {
			g.stop(hook.Codex, session(deferral(fmt.Sprint("do ", i)), i))
		}
		Expect(g.Clock.Sleep(context.Background(), 25*time.Hour)).To(Succeed())
		answer, _ := g.stop(hook.Codex, session(deferral("do more"), 3))
		Expect(answer.Blocked).To(BeTrue())
	})
	It("is one for each session, host and subagent", func() {
		g := newGuard()
		g.Subagents = true
		stops := []struct {
			host hook.Host
			stop host.Stop
		}{
			{hook.Claude, host.Stop{Session: "a"}},
			{hook.Claude, host.Stop{Session: "b"}},
			{hook.Codex, host.Stop{Session: "a"}},
			{hook.Claude, host.Stop{Session: "a", Agent: "1"}},
			{hook.Claude, host.Stop{Session: "a", Agent: "2"}},
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
	It("takes a message for the same if only blanks around it differ", func() {
		g := newGuard()
		first, _ := g.stop(hook.Claude, session(deferral("write the tests"), 0))
		again, _ := g.stop(hook.Claude, session("\n "+deferral("write the tests")+" \n", 1))
		Expect([]bool{first.Blocked, again.Blocked}).To(Equal([]bool{true, false}))
	})
	It("never exceeds the cap, whatever the host says and the messages are", func() {
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
				stdin, err := host.Input(h, host.Stop{Session: "s", Message: message, Blocks: map[bool]int{true: row}[active]})
				if err != nil {
					t.Fatal(err)
				}
				if inTranscript(h) {
					stdin = bytes.Replace(stdin, []byte("{"), []byte(`{"last_assistant_message":`+fmt.Sprintf("%q", message)+","), 1)
				}
				stdout, _ := g.call(string(stdin))
				answer, err := host.Read(h, 0, []byte(stdout))
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

var _ = Describe("the host", func() {
	It("is told by the shape of its input", func() {
		for _, h := range hook.Hosts() {
			g := newGuard()
			s := session(deferral("write the tests"), 0)
			stdout, stderr := g.call(input(h, s, GinkgoT().TempDir()))
			answer, err := host.Read(h, 0, []byte(stdout))
			Expect(err).NotTo(HaveOccurred(), "%s: %s", h, stdout)
			Expect(answer.Blocked).To(BeTrue(), "%s: %s", h, stderr)
			counts, err := hook.Tallies(context.Background(), g.State)
			Expect(err).NotTo(HaveOccurred())
			Expect(counts).To(Equal([]hook.Tally{{Host: h, Sessions: 1, Blocked: 1}}))
		}
	})
	It("is the one that the configuration names, whatever the shape", func() {
		g := newGuard()
		g.Host = hook.Gemini
		stdout, _ := g.call(claude("s", deferral("write the tests"), false))
		Expect(stdout).To(HavePrefix(`{"decision":"deny"`))
	})
	DescribeTable("in another form",
		func(stdin, want string) {
			stdout, stderr := newGuard().call(stdin)
			Expect(stdout).To(HavePrefix(want), stderr)
		},
		Entry("Copilot CLI with an event of VS Code", `{"hook_event_name":"Stop","session_id":"s","timestamp":"2026-09-19T10:00:00Z","transcript_path":"","stop_reason":"end_turn","last_assistant_message":"Next I will a."}`, `{"decision":"block"`),
		Entry("Copilot CLI's turn that was cut off", `{"hook_event_name":"Stop","session_id":"s","stop_reason":"max_tokens","last_assistant_message":"Next I will a."}`, ``),
		Entry("an agent with Claude Code's contract and an event of another name", `{"event":"Stop","session_id":"s","last_assistant_message":"Next I will a."}`, `{"decision":"block"`),
		Entry("a stop that cannot be refused", `{"hook_event_name":"stop","cwd":"/project"}`, `{}`),
		Entry("an event of no host", `{"hook_event_name":"PreCompact","session_id":"s"}`, `{}`),
		Entry("with a list that has nothing in it", `{"hook_event_name":"Stop","session_id":"s","background_tasks":[ `+"\n"+` ],"crons":{ },"last_assistant_message":"Next I will a."}`, `{"decision":"block"`),
		Entry("with a byte-order mark", "\xef\xbb\xbf"+`{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"Next I will a."}`, `{"decision":"block"`),
		Entry("with fields of types of their own", `{"hook_event_name":"Stop","event":7,"event_type":null,"session_id":"s","transcript_path":7,"background_tasks":0,"permission_mode":{},"status":[],"loop_count":"x","last_assistant_message":"Next I will a."}`, `{"decision":"block"`),
	)
	DescribeTable("that says there is more to come",
		func(fields string) {
			stdin := `{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"Next I will a.",` + fields + `}`
			stdout, stderr := newGuard().call(stdin)
			Expect(stdout + stderr).To(Or(BeEmpty(), Equal("{}\n")))
		},
		Entry(nil, `"background_tasks":[{"id":"1"}]`),
		Entry(nil, `"background_tasks":[{}]`),
		Entry(nil, `"session_crons":["x"]`),
		Entry(nil, `"crons":{"a":1}`),
		Entry(nil, `"permission_mode":"plan"`),
		Entry(nil, `"agent_id":"1"`),
	)
	It("Gemini CLI says that there was no text", func() {
		_, stderr := newGuard().call(`{"hook_event_name":"AfterAgent","session_id":"s","prompt_response":"[no response text]"}`)
		Expect(stderr).To(ContainSubstring("no last message"))
	})
	It("that could not reach its model is left alone", func() {
		stdout, stderr := newGuard().call(`{"hook_event_name":"StopFailure","session_id":"s","last_assistant_message":"Next I will a."}`)
		Expect(stdout + stderr).To(BeEmpty())
	})
	It("Cursor may send the message before the stop; no text of it is kept", func() {
		g := newGuard()
		stdout, stderr := g.call(`{"hook_event_name":"afterAgentResponse","conversation_id":"c","text":"Next I will write the tests."}`)
		Expect([]string{stdout, stderr}).To(Equal([]string{"{}\n", ""}))
		stdout, _ = g.call(`{"hook_event_name":"stop","conversation_id":"c","status":"completed","loop_count":0,"transcript_path":null}`)
		Expect(stdout).To(HavePrefix(`{"followup_message":"Your last message announces work that is not done`))
		Expect(remembered(g.State)).NotTo(ContainSubstring("tests"))
		// The next stop has no message of its own.
		stdout, stderr = g.call(`{"hook_event_name":"stop","conversation_id":"c","status":"completed","loop_count":1}`)
		Expect(stdout).To(Equal("{}\n"))
		Expect(stderr).To(ContainSubstring("no last message"))
	})
})

// remembered is the content of all files of a state folder, and their names.
func remembered(dir string) string {
	GinkgoHelper()
	var all strings.Builder
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		data, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		fmt.Fprintf(&all, "%s: %s", file, data)
	}
	return all.String()
}

var _ = Describe("failing open", Label("G-12"), func() {
	DescribeTable("lets the agent stop, with a line that says why",
		func(change func(*hook.Config), stdin io.Reader, says string) {
			g := newGuard()
			change(&g.Config)
			var out, errs bytes.Buffer
			hook.Run(context.Background(), g.Config, stdin, &out, &errs)
			Expect(out.String()).To(Or(BeEmpty(), Equal("{}\n")))
			Expect(errs.String()).To(And(HavePrefix("rehearse guard: the agent may stop unjudged: "), ContainSubstring(says)))
			Expect(strings.Count(errs.String(), "\n")).To(Equal(1))
			Expect(len(errs.String())).To(BeNumerically("<", 1000))
		},
		Entry("no input", func(*hook.Config) {}, strings.NewReader(""), "input is empty"),
		Entry("a text", func(*hook.Config) {}, strings.NewReader("Next I will a."), "not a JSON object"),
		Entry("a list", func(*hook.Config) {}, strings.NewReader(`[{}]`), "not a JSON object"),
		Entry("two objects", func(*hook.Config) {}, strings.NewReader(`{}{}`), "read the host's JSON"),
		Entry("nested too deep", func(*hook.Config) {}, strings.NewReader(strings.Repeat(`{"a":`, 200_000)), "read the host's JSON"),
		Entry("no host", func(*hook.Config) {}, strings.NewReader(`{"a":1}`), "name it with --host"),
		Entry("no session", func(c *hook.Config) { c.Host = hook.Codex }, strings.NewReader(`{"last_assistant_message":"Next I will a."}`), "names no session"),
		Entry("too much input", func(*hook.Config) {}, io.LimitReader(spaces{}, 1<<30), "longer than 32 MB"),
		Entry("input that breaks off", func(*hook.Config) {}, iotest.ErrReader(errors.New("broken pipe")), "broken pipe"),
		Entry("a bug of ours", func(c *hook.Config) { c.Judge = func(string, stop.Options) stop.Verdict { panic("at the\ndisco") } },
			strings.NewReader(`{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"x"}`), "internal error: at the disco"),
		Entry("a state folder that is a file", func(c *hook.Config) { c.State = "suite_test.go" },
			strings.NewReader(`{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"Next I will a."}`), "choose another one with --state"),
		Entry("a lock that is a folder", func(c *hook.Config) { Expect(os.Mkdir(filepath.Join(c.State, ".lock"), 0o700)).To(Succeed()) },
			strings.NewReader(`{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"Next I will a."}`), "lock the state folder"),
	)

	It("does so in a folder that cannot be written", func() {
		if os.Geteuid() == 0 {
			Skip("root may write everywhere")
		}
		g := newGuard()
		Expect(os.Chmod(g.State, 0o500)).To(Succeed())
		stdout, stderr := g.call(claude("s", deferral("write the tests"), false))
		Expect(stdout).To(BeEmpty())
		Expect(stderr).To(ContainSubstring("--state"))
	})
	It("does so on a full disk or one that went away", func() {
		g := newGuard()
		g.Judge = func(message string, o stop.Options) stop.Verdict {
			Expect(os.RemoveAll(g.State)).To(Succeed()) // before it is remembered
			Expect(os.WriteFile(g.State, nil, 0o600)).To(Succeed())
			return judge(message, o)
		}
		stdout, stderr := g.call(claude("s", deferral("write the tests"), false))
		Expect(stdout).To(BeEmpty())
		Expect(stderr).To(ContainSubstring("may stop unjudged"))
	})
	It("does not wait for a host that never closes its input", func() {
		g := newGuard()
		in, keep := io.Pipe()
		defer keep.Close()
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(context.DeadlineExceeded)
		var out, errs bytes.Buffer
		hook.Run(ctx, g.Config, in, &out, &errs)
		Expect(out.String()).To(Equal("{}\n"))
		Expect(errs.String()).To(ContainSubstring("no answer in time"))
	})
	It("gives up by itself", func() {
		g := newGuard()
		in, keep := io.Pipe()
		defer keep.Close()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			hook.Run(context.Background(), g.Config, in, io.Discard, io.Discard)
		}()
		// Virtual time passes when somebody sleeps.
		Eventually(func() bool {
			Expect(g.Clock.Sleep(context.Background(), time.Minute)).To(Succeed())
			select {
			case <-ended:
				return true
			default:
				return false
			}
		}).Should(BeTrue())
	})
	It("takes a damaged memory for none", func() {
		for _, content := range []string{
			"", "{", `{"schema":"other/1"}`, `{"schema":"rehearse.guard/1","blocks":-9}`,
			`{"schema":"rehearse.guard/1","blocks":0}` + strings.Repeat(" ", 1<<20),
		} {
			g := newGuard()
			g.call(claude("s", finished, false))
			files, err := filepath.Glob(filepath.Join(g.State, "*.json"))
			Expect(err).NotTo(HaveOccurred())
			Expect(files).To(HaveLen(1))
			Expect(os.WriteFile(files[0], []byte(content), 0o600)).To(Succeed())
			stdout, _ := g.call(claude("s", deferral("a"), true))
			Expect(stdout).To(BeEmpty(), "nothing is known, and the agent was sent back")
			stdout, _ = g.call(claude("s", deferral("b"), false))
			Expect(stdout).NotTo(BeEmpty())
		}
	})
})

// spaces never ends.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

var _ = Describe("the state folder", func() {
	It("is left by no session, whatever its name", func() {
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
			Expect(file).To(MatchRegexp(`^` + above + `/one/two/guard/([0-9a-f]{32}\.json|\.lock)$`))
		}
		Expect(files[4:]).To(HaveLen(len(names) - 2 + 1)) // two names are none; the lock
	})
	It("keeps no word of a message or of a session", func() {
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
	It("forgets sessions after a month, and the oldest of more than a thousand", func() {
		g := newGuard()
		count := func() int {
			files, err := filepath.Glob(filepath.Join(g.State, "*.json"))
			Expect(err).NotTo(HaveOccurred())
			return len(files)
		}
		g.call(claude("old", finished, false))
		mine := filepath.Join(g.State, "notes.json")
		Expect(os.WriteFile(mine, nil, 0o600)).To(Succeed())
		Expect(g.Clock.Sleep(context.Background(), 31*24*time.Hour)).To(Succeed())
		g.call(claude("new", finished, false))
		Expect(count()).To(Equal(2)) // and notes.json, which is not the guard's
		for i := range 1005 {
			g.call(claude(fmt.Sprint("session ", i), finished, false))
		}
		Expect(count()).To(Equal(1000 + 1))
		Expect(mine).To(BeAnExistingFile())
	})
	It("follows no link from the file of a session", func() {
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
	It("serves two hooks of one session at once", func() {
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

var _ = Describe("the shadow", func() {
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
	It("says when it cannot log, and judges all the same", func() {
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

var _ = Describe("the reason", func() {
	It("is bounded, and valid text, however much was found", func() {
		g := newGuard()
		g.Judge = func(_ string, o stop.Options) stop.Verdict {
			v := stop.Verdict{Policy: o.Policy, Class: stop.Defers}
			for i := range 500 {
				v.Detections = append(v.Detections, stop.Detection{Real: true, Span: stop.Span{Start: 10 * i, End: 10*i + 5}, Text: strings.Repeat("é\x1b[31m", 300)})
				v.Steps = append(v.Steps, stop.Step{Description: strings.Repeat("日本\n", 300)})
			}
			return v
		}
		answer, _ := g.stop(hook.Claude, session("x", 0))
		Expect(answer.Blocked).To(BeTrue())
		Expect(len(answer.Reason)).To(BeNumerically("<=", 9000))
		Expect(utf8.ValidString(answer.Reason)).To(BeTrue())
		Expect(answer.Reason).To(And(ContainSubstring("and 495 more"), Not(ContainSubstring("\x1b"))))
	})
	It("has neither mere references nor mentions within others", func() {
		g := newGuard()
		g.Judge = func(_ string, o stop.Options) stop.Verdict {
			return stop.Verdict{Class: stop.Defers, Detections: []stop.Detection{
				{Real: true, Span: stop.Span{Start: 0, End: 30}, Text: "outer"},
				{Real: true, Span: stop.Span{Start: 5, End: 9}, Text: "inner"},
				{Real: false, Span: stop.Span{Start: 40, End: 44}, Text: "quoted"},
			}}
		}
		answer, _ := g.stop(hook.Claude, session("x", 0))
		Expect(answer.Reason).To(And(ContainSubstring(`- "outer"`), ContainSubstring("Do it now"),
			Not(ContainSubstring("inner")), Not(ContainSubstring("quoted"))))
	})
})

var _ = DescribeTable("a configuration that is wrong is refused",
	func(c hook.Config, says string) { Expect(c.Validate()).To(MatchError(ContainSubstring(says))) },
	Entry("host", hook.Config{Host: "claud"}, `host "claud" is none of [claude`),
	Entry("policy", hook.Config{Policy: "lax"}, `policy "lax"`),
	Entry("cap", hook.Config{Cap: -1}, "cap -1"),
	Entry("cap", hook.Config{Cap: 101}, "cap 101"),
)
