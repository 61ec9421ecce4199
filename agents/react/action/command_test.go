package action_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// shell is a custom action that runs a script; the script's arguments are the
// values of its inputs, all optional.
func shell(script string, inputs ...string) agentfile.Action {
	if _, err := exec.LookPath("sh"); err != nil {
		Skip("there is no sh")
	}
	a := agentfile.Action{ID: "own", Command: []string{"sh", "-c", script, "own"}, Timeout: quantity.Duration(time.Minute)}
	for _, name := range inputs {
		a.Command = append(a.Command, "{"+name+"}")
		a.Inputs = append(a.Inputs, agentfile.Input{Name: name})
	}
	return a
}

// alarm is a clock on which a timeout is over when a file is there.
type alarm struct {
	clock.Clock
	file string
	set  time.Duration
}

func (a *alarm) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	a.set = d
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		defer GinkgoRecover()
		Eventually(a.file, "1m").Should(BeAnExistingFile())
		cancel(context.DeadlineExceeded)
	}()
	return ctx, func() { cancel(nil) }
}

var _ = Describe("a custom action", Label("R-05"), func() {
	It("runs in the workspace, and reports how it ended and its output", func() {
		folder := workspace("a.txt", "one\ntwo\n")
		r := do(open(folder, shell("cat a.txt; echo wrong >&2; exit 3")), "own", "")
		Expect(r).To(Equal(action.Result{Observation: "exit status 3\none\ntwo\nwrong"}))
		r = do(open(folder, shell(":")), "own", "{}")
		Expect(r.Observation).To(Equal("exit status 0\n(no output)"))
	})

	It("gives each input as one argument, which no shell reads", func() {
		r := do(open(workspace(), shell(`for a in "$@"; do echo "<$a>"; done`, "a", "b", "c")), "own",
			"a: 'x y; echo $HOME `id` | \"q\"'\nc: 007\n")
		Expect(r.Observation).To(Equal("exit status 0\n<x y; echo $HOME `id` | \"q\">\n<007>"))
	})

	DescribeTable("checks its inputs",
		func(input, rule, reason string) {
			a := shell("echo ran", "file")
			a.Inputs[0].Required = true
			r := do(open(workspace(), a), "own", input)
			Expect(r.Failed).To(BeTrue())
			Expect(r.Rule).To(Equal(rule))
			Expect(r.Observation).To(Equal(rule + ": " + reason))
		},
		Entry("unknown", "fiel: x", action.RuleBadInput, "input:1:1: the key \"file\" is missing\ninput:1:7: unknown key \"fiel\" (did you mean \"file\"?)"),
		Entry("missing", "", action.RuleBadInput, `input:1:1: the key "file" is missing`),
		Entry("a list", "file: [x]", action.RuleBadInput, `input:1:7: found a list; expected text`),
		Entry("an option", "file: --help", action.RuleBadInput, `"--help" begins with "-", and a program could take it for an option`),
		Entry("NUL", `file: "a\0b"`, action.RuleBadInput, `the value of file has more than 8192 bytes, or a NUL`),
		Entry("too long", "file: "+strings.Repeat("x", 9000), action.RuleBadInput, `the value of file has more than 8192 bytes, or a NUL`),
		Entry("an absolute path", "file: /etc/passwd", "outside-workspace", `the value of file, "/etc/passwd", names a place outside the workspace`),
		Entry("a path upwards", "file: a/../../b", "outside-workspace", `the value of file, "a/../../b", names a place outside the workspace`),
		Entry("a path behind @", "file: \"@/etc/passwd\"", "outside-workspace", `the value of file, "@/etc/passwd", names a place outside the workspace`),
		Entry("a path behind =", "file: if=/etc/passwd", "outside-workspace", `the value of file, "if=/etc/passwd", names a place outside the workspace`),
		Entry("a path upwards behind @", "file: \"@../s.txt\"", "outside-workspace", `the value of file, "@../s.txt", names a place outside the workspace`),
		Entry("a path upwards in a text", "file: see a,../b", "outside-workspace", `the value of file, "see a,../b", names a place outside the workspace`),
		Entry("a URL of a file", "file: FILE:///etc/passwd", "outside-workspace", `the value of file, "FILE:///etc/passwd", names a place outside the workspace`),
		Entry("no YAML", "file: [", action.RuleBadInput, "input:2:1: not valid YAML: while parsing a flow node: did not find expected node content"),
	)

	It("rejects a path that leads out by a link, and reports its input files", func() {
		folder := workspace("a.txt", "x")
		Expect(os.Symlink(GinkgoT().TempDir(), filepath.Join(folder, "out"))).To(Succeed())
		set := open(folder, shell(`cat "$1"`, "file"))
		for _, value := range []string{"out/x", "@out/x", "a=out", "b.txt=@out/x"} {
			Expect(do(set, "own", "file: \""+value+"\"").Rule).To(Equal("outside-workspace"), value)
		}
		for _, value := range []string{"a and/or b", "https://example.org/a", "1..2", "a...b", "x / y", "me@example.org"} {
			Expect(do(set, "own", "file: \""+value+"\"").Failed).To(BeFalse(), value)
		}
		Expect(do(set, "own", "file: a.txt").Read).To(Equal([]string{"a.txt"}))
	})

	It("does not see the secrets of this process", func() {
		GinkgoT().Setenv("OPENAI_API_KEY", "s3cret")
		r := do(open(workspace(), shell("env")), "own", "")
		Expect(r.Observation).To(And(ContainSubstring("PATH="), Not(ContainSubstring("s3cret"))))
	})

	It("fails if the program does not exist", func() {
		a := agentfile.Action{ID: "own", Command: []string{"no-such-program-anywhere"}, Timeout: quantity.Duration(time.Minute)}
		r := do(open(workspace(), a), "own", "")
		Expect(r.Observation).To(Equal(`no-program: no-such-program-anywhere cannot be started: executable file not found in $PATH`))
		a.Command = []string{"./none"}
		Expect(do(open(workspace(), a), "own", "").Observation).To(Equal(`no-program: ./none cannot be started: no such file or directory`))
	})

	It("is stopped when it hangs, with its child processes, and reports its output", func() {
		folder := workspace()
		a := shell("echo begun; echo >mark; (sleep 600; echo x >late) & sleep 600")
		a.Timeout = quantity.Duration(42 * time.Second)
		late := &alarm{Clock: clock.Real(), file: filepath.Join(folder, "mark")}
		set, err := action.New(&agentfile.Agent{Actions: []agentfile.Action{a}}, action.Options{Workspace: folder, Clock: late})
		Expect(err).NotTo(HaveOccurred())
		r := do(set, "own", "")
		Expect(r.Rule).To(Equal("timeout"))
		Expect(r.Observation).To(Equal("timeout: own did not end within 42s and was stopped; it began with\nbegun"))
		Expect(late.set).To(Equal(42 * time.Second))
	})

	It("is stopped when it floods, and reports the beginning", func() {
		r := do(open(workspace(), shell("echo first; yes")), "own", "")
		Expect(r.Rule).To(Equal("output-flood"))
		Expect(r.Observation).To(HavePrefix("output-flood: own wrote more than 1048576 bytes and was stopped; it began with\nfirst\ny\n"))
		Expect(len(r.Observation)).To(BeNumerically("<", 4000))
		Expect(do(open(workspace(), shell("echo first; yes")), "own", "")).To(Equal(r), "how far it got is not told")
	})

	It("does not wait for a grandchild that left the group and holds the output", func() {
		if _, err := exec.LookPath("setsid"); err != nil {
			Skip("there is no setsid")
		}
		r := do(open(workspace(), shell("setsid sh -c 'echo >gone; sleep 20' & while [ ! -e gone ]; do :; done; echo done")), "own", "")
		Expect(r.Failed).To(BeTrue())
		Expect(r.Observation).To(Equal("left-program: own ended (exit status 0) and left a program behind that held its output; it began with\ndone"))
	})

	It("omits the middle of a long output", func() {
		r := do(open(workspace(), shell("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done")), "own", "")
		Expect(r.Observation).To(And(HavePrefix("exit status 0\nline 0\n"), ContainSubstring("\n… the middle is left out …\n"), HaveSuffix("\nline 1999")))
		r = do(open(workspace(), shell("i=0; while [ $i -lt 350 ]; do echo line $i; i=$((i+1)); done")), "own", "")
		Expect(strings.Count(r.Observation, "\n")).To(Equal(350), "3.4 KiB are told as a whole")
		Expect(r.Observation).NotTo(ContainSubstring("…"))
	})

	It("reports a signal that ended it", func() {
		r := do(open(workspace(), shell("kill -9 $$")), "own", "")
		Expect(r.Observation).To(Equal("killed: own was ended (signal: killed); it began with\n(no output)"))
	})

	It("ends with its context, whose error is returned", func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		folder := workspace()
		set := open(folder, shell("echo x >begun; sleep 600"))
		go func() {
			defer GinkgoRecover()
			begun := filepath.Join(folder, "begun")
			Eventually(begun, "1m").Should(BeAnExistingFile())
			cancel(errors.New("the user gave up"))
		}()
		_, err := set.Do(ctx, "own", "")
		Expect(err).To(MatchError("the user gave up"))
		_, err = set.Do(ctx, "analyze", "target: full")
		Expect(err).To(MatchError("the user gave up"))
	})

	It("fills in what stands beside other text, and leaves out what is not given", func() {
		a := shell(`echo "$@"`)
		a.Command = append(a.Command, "--name={name}", "{other}", "{print $1}", "end")
		a.Inputs = []agentfile.Input{{Name: "name"}, {Name: "other"}}
		Expect(do(open(workspace(), a), "own", "name: -x").Observation).To(Equal("exit status 0\n--name=-x {print $1} end"))
	})
})
