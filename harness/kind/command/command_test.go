package command_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/command"
)

// beKind matches an *app.Error of a kind whose message has a text.
func beKind(kind app.Kind, text string) types.GomegaMatcher {
	return WithTransform(func(err error) (string, error) {
		failed, ok := errors.AsType[*app.Error](err)
		if !ok {
			return "", errors.New("no *app.Error")
		}
		return string(failed.Kind) + ": " + failed.Message, nil
	}, And(HavePrefix(string(kind)+": "), ContainSubstring(text)))
}

var _ = DescribeTable("a turn reaches the program unchanged",
	func(ctx SpecContext, cfg command.Options, text, want string) {
		s := begin(ctx, "echo", cfg)
		answer, err := s.Say(ctx, text)
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.ReplaceAll(answer.Text, `\\`, `\`)).To(MatchRegexp(want))
	},
	Entry("on standard input, without an added line break", command.Options{}, "a\nb", `^\[\] "a\\nb"$`),
	Entry("on standard input, if it is empty", command.Options{}, "", `^\[\] ""$`),
	Entry("in place of {turn}", command.Options{Launch: command.Launch{Run: []string{"-m={turn}", "{turn}", "x"}}, Input: "argument"}, "a b $c", `^\["-m=a b \$c" "a b \$c" "x"\] ""$`),
	Entry("after all arguments", command.Options{Launch: command.Launch{Run: []string{"-m"}}, Input: "argument"}, "--help", `^\["-m" "--help"\] ""$`),
	Entry("in place of {file}", command.Options{Launch: command.Launch{Run: []string{"-f", "{file}"}}, Input: "file"}, "x", `^\["-f" ".*turn-1\.txt"\] ""$`),
)

var _ = It("writes a turn into a file beside the workspace", func(ctx SpecContext) {
	agent, err := command.New(command.Options{Launch: command.Launch{Run: []string{self()}}, Input: "file"})
	Expect(err).NotTo(HaveOccurred())
	place := site("echo")
	s, err := agent.Start(ctx, place)
	Expect(err).NotTo(HaveOccurred())
	for range 2 {
		_, err = s.Say(ctx, "the turn\nof two lines")
		Expect(err).NotTo(HaveOccurred())
	}
	Expect(os.ReadFile(filepath.Join(place.Home, "turn-2.txt"))).To(Equal([]byte("the turn\nof two lines")))
	Expect(os.ReadDir(place.Folder)).To(BeEmpty())
})

var _ = Describe("a program's environment", func() {
	It("has the necessary variables, its own home, and no other variables of this process", func(ctx SpecContext) {
		GinkgoT().Setenv("SECRET_OF_OURS", "do not tell")
		place := site("environment")
		place.Env = append(place.Env, "OPENAI_BASE_URL=there")
		out, err := run(ctx, place, command.Program{Argv: []string{self()}, Env: []string{"MINE=1", "OPENAI_BASE_URL=here"}})
		Expect(err).NotTo(HaveOccurred())
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		Expect(lines).To(ContainElements("HOME="+place.Home, "TMPDIR="+command.Temp(place), "PWD="+place.Folder, "MINE=1", "OPENAI_BASE_URL=here", "PATH="+os.Getenv("PATH")))
		Expect(string(out)).NotTo(ContainSubstring("do not tell"))
		Expect(command.Temp(place)).To(BeADirectory())
		Expect(len(lines)).To(BeNumerically("<", 30))
	})

	It("has the number of the turn if each turn has a process", func(ctx SpecContext) {
		s := begin(ctx, "environment", command.Options{})
		for _, want := range []string{"REHEARSE_TURN=1\n", "REHEARSE_TURN=2\n"} {
			answer, err := s.Say(ctx, "x")
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Text + "\n").To(ContainSubstring(want))
		}
	})
})

var _ = DescribeTable("the answer is read from the output",
	func(ctx SpecContext, output, path, printed, want string) {
		for _, lives := range []string{"turn", "session"} {
			do := "print:" + printed
			if lives == "session" {
				do = "lines:" + printed
			}
			s := begin(ctx, do, command.Options{Output: output, Answer: path, Lives: lives})
			answer, err := s.Say(ctx, "x")
			Expect(err).NotTo(HaveOccurred(), lives)
			Expect(answer.Text).To(Equal(want), lives)
		}
	},
	Entry("text, without surrounding space", "text", "", "  It is this. ", "It is this."),
	Entry("JSON", "json", "$.a.b", `{"a":{"b":"It is this."}}`, "It is this."),
	Entry("JSON that is not a string", "json", "$.n", `{"n":[1,{"x":null}]}`, `[1,{"x":null}]`),
	Entry("JSON lines, the last one with an answer", "jsonl", "$.text", `{"type":"start"}\n\n{"text":"It is this."}`, "It is this."),
)

var _ = It("reads the last of several answers in JSON lines if each turn has a process", func(ctx SpecContext) {
	s := begin(ctx, `print:{"text":"Let me see."}\n{"text":"It is this."}\n{"type":"end"}\n`, command.Options{Output: "jsonl", Answer: "$.text"})
	answer, err := s.Say(ctx, "x")
	Expect(err).NotTo(HaveOccurred())
	Expect(answer.Text).To(Equal("It is this."))
	Expect(answer.Raw).To(ContainSubstring("Let me see."))
})

var _ = DescribeTable("output without an answer is an error",
	func(ctx SpecContext, output, path, printed, message string) {
		s := begin(ctx, "print:"+printed, command.Options{Output: output, Answer: path})
		_, err := s.Say(ctx, "x")
		Expect(err).To(beKind(app.Unusable, message))
	},
	Entry("nothing instead of JSON", "json", "$.a", "", "it printed: nothing"),
	Entry("text instead of JSON", "json", "$.a", "It is this.", "it printed: It is this."),
	Entry("JSON without an answer", "json", "$.a", `{"b":1}`, "nothing is there"),
	Entry("two JSON values", "json", "$.a", `{"a":1} {"a":2}`, "no JSON"),
	Entry("prose between JSON lines", "jsonl", "$.a", `{"a":"x"}\nDone!`, "it printed: Done!"),
	Entry("JSON lines without an answer", "jsonl", "$.a", `{"b":1}\n{"b":2}`, "nothing is there"),
	Entry("binary text", "text", "", "abc\xff", "byte 4 is 0xff"),
	Entry("JSON with binary data", "json", "$.a", "{\"a\":\"\x80\"}", "byte 7 is 0x80"),
)

var _ = Describe("a program that fails", func() {
	It("has the end of its output in the error", func(ctx SpecContext) {
		place := site("fail")
		_, err := run(ctx, place, command.Program{Argv: []string{self()}})
		Expect(err).To(beKind(app.Failed, "exit status 5; the end of its standard error:\nfirst\nlast"))
		failed, _ := errors.AsType[*app.Error](err)
		Expect(failed.Code).To(Equal(5))
		Expect(place.Log).To(HaveField("String()", "first\nlast\n"))
	})

	It("is named at the start of the conversation if it is missing", func(ctx SpecContext) {
		for _, lives := range []string{"turn", "session"} {
			agent, err := command.New(command.Options{Launch: command.Launch{Run: []string{"no-such-program"}}, Lives: lives})
			Expect(err).NotTo(HaveOccurred())
			_, err = agent.Start(ctx, site(""))
			Expect(err).To(beKind(app.Unusable, `"no-such-program" cannot be started: executable file not found`), lives)
		}
	})

	It("writes more than the limit of a turn", func(ctx SpecContext) {
		s := begin(ctx, "print:"+long+"x", command.Options{})
		_, err := s.Say(ctx, "x")
		Expect(err).To(beKind(app.Flooded, "more than 4 MiB to standard output"))
	})

	It("writes a line that is too long, in a session", func(ctx SpecContext) {
		s := begin(ctx, "lines:"+long+"x", command.Options{Lives: "session"})
		_, err := s.Say(ctx, "x")
		Expect(err).To(beKind(app.Flooded, "in one turn"))
	})

	It("writes too many lines without an answer, in a session", func(ctx SpecContext) {
		s := begin(ctx, `lines:{"a":"`+half+`"}\n{"a":"`+half+`"}`, command.Options{Lives: "session", Output: "jsonl", Answer: "$.b"})
		_, err := s.Say(ctx, "x")
		Expect(err).To(beKind(app.Flooded, "in one turn"))
	})

	It("may write a line of the maximal length, in a session", func(ctx SpecContext) {
		s := begin(ctx, "lines:"+long, command.Options{Lives: "session"})
		_, err := s.Say(ctx, "x")
		Expect(err).NotTo(HaveOccurred())
	})
})

var _ = Describe("a program that lives for a session", func() {
	It("reads each turn as a line, and the end of its input after the last one", func(ctx SpecContext) {
		s := begin(ctx, "lines:You said TURN.", command.Options{Lives: "session"})
		for _, text := range []string{"one", "two"} {
			Expect(s.Say(ctx, text)).To(Equal(app.Answer{Text: "You said " + text + "."}))
		}
		Expect(s.End(ctx)).To(Succeed())
		Expect(s.End(ctx)).To(Succeed(), "it may be called again")
	})

	It("is not sent several lines as one turn", func(ctx SpecContext) {
		s := begin(ctx, "lines:TURN", command.Options{Lives: "session"})
		_, err := s.Say(ctx, "one\ntwo")
		Expect(err).To(beKind(app.Unusable, "one two"))
	})

	It("has crashed if it ends in the middle", func(ctx SpecContext) {
		s := begin(ctx, "print:", command.Options{Lives: "session"})
		_, err := s.Say(ctx, "x")
		Expect(err).To(beKind(app.Crashed, "ended in the middle of the conversation, without an answer"))
		Expect(err).To(HaveField("Silent", true))
	})

	It("can be killed and started again, in the same place", func(ctx SpecContext) {
		s := begin(ctx, "lines:You said TURN.", command.Options{Lives: "session"})
		Expect(s.Say(ctx, "one")).To(HaveField("Text", "You said one."))
		Expect(s.(app.Restarter).Restart(ctx)).To(Succeed())
		Expect(s.Say(ctx, "two")).To(HaveField("Text", "You said two."))
	})

	It("prints one line for a turn: a second one is not the answer to the next", func(ctx SpecContext) {
		for _, second := range []string{"more", ""} {
			s := talk(ctx, `lines:TURN\n`+second, command.Options{})
			Expect(s.Say(ctx, "one")).To(HaveField("Text", "one"))
			_, err := s.Say(ctx, "two")
			if err == nil { // it was not read yet, and is found at the end
				err = s.End(ctx)
			}
			Expect(err).To(beKind(app.Unusable, `more than one line for a turn, or a line that no turn asked for: "`))
		}
	})

	It("cannot print after the last answer", func(ctx SpecContext) {
		for _, last := range []string{"Bye.", "Bye.\n", long + "x"} {
			s := talk(ctx, "end:0:"+last, command.Options{})
			Expect(s.Say(ctx, "one")).To(HaveField("Text", "Yes."))
			Expect(s.End(ctx)).To(beKind(app.Unusable, "a line that no turn asked for"))
			Expect(s.End(ctx)).To(beKind(app.Unusable, "a line that no turn asked for"), "it may be called again")
		}
	})

	It("may print lines without an answer between turns, if they are JSON", func(ctx SpecContext) {
		lines := command.Options{Output: "jsonl", Answer: "$.text"}
		s := talk(ctx, `lines:{"text":"TURN"}\n{"type":"end"}\n`, lines)
		for _, text := range []string{"one", "two"} {
			Expect(s.Say(ctx, text)).To(HaveField("Text", text))
		}
		Expect(s.End(ctx)).To(Succeed())

		s = talk(ctx, `lines:{"text":"TURN"}\n{"text":"more"}`, lines)
		Expect(s.Say(ctx, "one")).To(HaveField("Text", "one"))
		Expect(s.End(ctx)).To(beKind(app.Unusable, "more than one line for a turn"))

		s = talk(ctx, `lines:{"text":"TURN"}\n{"type":"`+long+`"}`, lines)
		Expect(s.Say(ctx, "one")).To(HaveField("Text", "one"))
		Expect(s.End(ctx)).To(beKind(app.Unusable, "a line that no turn asked for"), "it is too long to be looked at")

		s = talk(ctx, `lines:{"text":"TURN"}\nDone!`, lines)
		Expect(s.Say(ctx, "one")).To(HaveField("Text", "one"))
		Expect(s.End(ctx)).To(beKind(app.Unusable, "it printed: Done!"))
	})

	It("can report a failure at its end, by its exit status", func(ctx SpecContext) {
		s := talk(ctx, "end:3:", command.Options{})
		Expect(s.Say(ctx, "one")).To(HaveField("Text", "Yes."))
		err := s.End(ctx)
		Expect(err).To(beKind(app.Failed, "ended with exit status 3"))
		Expect(err).To(And(HaveField("Code", 3), HaveField("Silent", true)))
		Expect(s.End(ctx)).To(MatchError(err), "it may be called again")
	})

	It("fails once if a turn failed", func(ctx SpecContext) {
		s := talk(ctx, "fail", command.Options{})
		_, err := s.Say(ctx, "one")
		Expect(err).To(beKind(app.Failed, "exit status 5"))
		Expect(err).To(HaveField("Silent", false))
		Expect(s.End(ctx)).To(Succeed())
	})

	It("reads its turns from standard input only", func() {
		_, err := command.New(command.Options{Launch: command.Launch{Run: []string{"x"}}, Lives: "session", Input: "argument"})
		Expect(err).To(MatchError(ContainSubstring("standard input")))
		_, err = command.New(command.Options{})
		Expect(err).To(MatchError(ContainSubstring("no program")))
		_, err = command.New(command.Options{Launch: command.Launch{Run: []string{"x"}}, Output: "json", Answer: "result"})
		Expect(err).To(MatchError(ContainSubstring("not a JSON path")))
	})
})

var _ = DescribeTable("a program that fails", Label("H-04"), func(ctx SpecContext, shell string, silent bool) {
	for _, options := range []command.Options{{}, {Lives: "session", Output: "jsonl", Answer: "$.text"}} {
		options.Run = []string{"sh", "-c", shell}
		agent, err := command.New(options)
		Expect(err).NotTo(HaveOccurred())
		s, err := agent.Start(ctx, site(""))
		Expect(err).NotTo(HaveOccurred())
		_, err = s.Say(ctx, "x")
		Expect(err).To(beKind(app.Failed, "exit status 7"))
		Expect(err).To(HaveField("Silent", silent))
		_ = s.End(ctx) // it has ended
	}
},
	Entry("and says nothing is silent", "exit 7", true),
	Entry("and prints a part of an answer is silent", `echo '{"part":"It is"}'; exit 7`, true),
	Entry("and prints a reason is not", `echo '{"error":"the model gave no answer"}'; exit 7`, false),
	Entry("and writes to standard error is not", "echo The store is locked. >&2; exit 7", false),
)

var _ = DescribeTable("a program that fails in a later turn", Label("H-04"), func(ctx SpecContext, shell string, silent bool) {
	agent, err := command.New(command.Options{Launch: command.Launch{Run: []string{"sh", "-c", shell}}, Lives: "session"})
	Expect(err).NotTo(HaveOccurred())
	here := site("")
	s, err := agent.Start(ctx, here)
	Expect(err).NotTo(HaveOccurred())
	Expect(s.Say(ctx, "x")).To(HaveField("Text", "Yes."))
	Eventually(here.Log.(*log).String).Should(ContainSubstring("first turn"))
	_, err = s.Say(ctx, "y")
	Expect(err).To(beKind(app.Failed, "exit status 7"))
	Expect(err).To(HaveField("Silent", silent))
	_ = s.End(ctx) // it has ended
},
	Entry("is silent after a note of an earlier turn", "read a; echo first turn >&2; echo Yes.; read b; exit 7", true),
	Entry("is not after any note in this turn", "read a; echo first turn >&2; echo Yes.; read b; echo Ending. >&2; exit 7", false),
	Entry("is not if it reported a failure before", "read a; echo first turn: broken >&2; echo Yes.; read b; exit 7", false),
)

var _ = It("stops a program that ignores signals, and returns the cause", func(ctx SpecContext) {
	why := errors.New("the user had enough")
	ready := &notice{text: "ready", then: make(chan struct{})}
	p, err := command.Start(site("stay"), command.Program{Argv: []string{self()}, Stdout: ready})
	Expect(err).NotTo(HaveOccurred())
	limited, cancel := context.WithCancelCause(ctx)
	<-ready.then
	cancel(why)
	Expect(p.Wait(limited)).To(MatchError(why))
	Expect(p.Exited()).To(BeClosed())
	Expect(p.Stop(ctx)).To(Succeed(), "it may be called again")
})

// notice closes a channel when a text is written.
type notice struct {
	text string
	then chan struct{}
	seen bool
}

// Write implements io.Writer.
func (n *notice) Write(p []byte) (int, error) {
	if !n.seen && strings.Contains(string(p), n.text) {
		n.seen = true
		close(n.then)
	}
	return len(p), nil
}

var _ = It("finds a program by a path relative to the current folder, and starts it in the workspace", func(ctx SpecContext) {
	here, err := os.Getwd()
	Expect(err).NotTo(HaveOccurred())
	relative, err := filepath.Rel(here, self())
	Expect(err).NotTo(HaveOccurred())
	out, err := run(ctx, site("print:found"), command.Program{Argv: []string{relative}})
	Expect(err).NotTo(HaveOccurred())
	Expect(string(out)).To(Equal("found"))
})

var _ = It("gives a hint for a file that is not executable", func(ctx SpecContext) {
	file := filepath.Join(GinkgoT().TempDir(), "agent.py")
	Expect(os.WriteFile(file, []byte("print(1)"), 0o600)).To(Succeed())
	_, err := command.Start(site(""), command.Program{Argv: []string{file}})
	Expect(err).To(beKind(app.Unusable, "make it executable, or name the program that runs it"))
})
