package mocks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing/fstest"
	"time"

	"github.com/invopop/jsonschema"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/mocks"
)

// problems validates a script and returns what is wrong with it.
func problems(text string) []string {
	GinkgoHelper()
	script, err := parse(text)
	Expect(err).NotTo(HaveOccurred())
	var all []string
	for _, p := range script.Validate() {
		all = append(all, p.String())
	}
	return all
}

var _ = Describe("a script file", Label("H-02"), func() {
	It("has short forms of conditions, latencies and faults", func() {
		short, err := parse("rules: [{when: {user: hi}, text: a, latency: 2s, fault: reset-mid-stream}]")
		Expect(err).NotTo(HaveOccurred())
		long, err := parse("rules: [{when: {user: {contains: hi}}, text: a, latency: {first: 2s}, fault: {kind: reset-mid-stream}}]")
		Expect(err).NotTo(HaveOccurred())
		Expect(short).To(Equal(long))
		Expect(short.Rules[0].Latency.First).To(Equal(quantity.Duration(2 * time.Second)))
	})

	DescribeTable("refuses, with the place,",
		func(text, want string, line, column int) {
			_, err := parse(text)
			errs, ok := errors.AsType[*yaml.LoadErrors](err)
			Expect(ok).To(BeTrue(), "%v", err)
			Expect(errs.Errors[0].Error()).To(ContainSubstring(want))
			Expect([]int{errs.Errors[0].Mark.Line, errs.Errors[0].Mark.Column}).To(Equal([]int{line, column}))
		},
		Entry("an unknown key of a condition", "rules:\n- when: {user: {contain: x}}", "contain", 2, 17),
		Entry("an unknown key of a latency", "rules:\n- latency: {frist: 1s}", "frist", 2, 13),
		Entry("an unknown key of a fault", "rules:\n- fault: {kind: status, state: 1}", "state", 2, 25),
		Entry("two conditions on one text", "rules:\n- when: {user: {contains: a, equals: b}}", "exactly one", 2, 16),
		Entry("an empty condition", "rules:\n- when: {user: ''}", "exactly one", 2, 16),
		Entry("a fault without a kind", "rules:\n- fault: {status: 500}", "needs its kind", 2, 10),
		Entry("a latency without a unit", "rules:\n- latency: 2", "not a duration", 2, 12),
		Entry("a list for a fault", "rules:\n- fault: [a]", "seq", 2, 10),
	)

	It("has a schema that takes both forms and nothing else", func() {
		durations := func(t reflect.Type) *jsonschema.Schema {
			if t == reflect.TypeFor[quantity.Duration]() {
				return &jsonschema.Schema{Type: "string"}
			}
			return nil
		}
		schema, err := json.Marshal((&jsonschema.Reflector{ExpandedStruct: true, Mapper: durations}).Reflect(&mocks.Script{}))
		Expect(err).NotTo(HaveOccurred())
		document, err := validator.UnmarshalJSON(strings.NewReader(string(schema)))
		Expect(err).NotTo(HaveOccurred())
		compiler := validator.NewCompiler()
		Expect(compiler.AddResource("script.json", document)).To(Succeed())
		compiled := compiler.MustCompile("script.json")
		check := func(text string) error {
			var value any
			Expect(yaml.Load([]byte(text), &value)).To(Succeed())
			return compiled.Validate(value)
		}
		for _, good := range []string{
			"rules: [{when: {user: hi, any: {matches: x}}, text: a, latency: 2s, fault: timeout}]",
			"rules: [{latency: {first: 1s, jitter: 0.5}, fault: {kind: status, status: 503, retry_after: 1s}}]",
		} {
			Expect(check(good)).To(Succeed(), good)
		}
		for _, bad := range []string{
			"rules: [{when: {user: {contain: x}}}]", "rules: [{when: {user: {contains: x, equals: x}}}]",
			"rules: [{fault: timeouts}]", "rules: [{fault: {kind: timeouts}}]", "rules: [{fault: {status: 500}}]", "rules: [{latency: 2}]",
		} {
			Expect(check(bad)).NotTo(Succeed(), bad)
		}
	})

	DescribeTable("is refused, with the path and the nearest word,",
		func(text string, want ...string) { Expect(problems(text)).To(Equal(want)) },
		Entry("without lines", "model: m",
			"a script needs replies (a strict sequence) or rules (the first that fits answers)"),
		Entry("with both kinds", "{replies: [{text: a}], rules: [{text: a}]}",
			"rules: a script has replies or rules, not both"),
		Entry("with an empty line", "replies: [{text: a}, {times: 2}]",
			"replies[1]: the line has neither an answer (text, file, template, frames, media, tool_calls, refusal, finish) nor a fault"),
		Entry("with two texts", "replies: [{text: a, template: b}]",
			"replies[0].template: a line has at most one of text, file, template and frames, not text and template"),
		Entry("with a pattern that does not compile", "rules: [{text: a}, {when: {user: {matches: '('}}, text: a}]",
			"rules[1].when.user.matches: error parsing regexp: missing closing ): `(` (RE2 syntax)"),
		Entry("with an unknown finish", "replies: [{text: a, finish: lenght}]",
			`replies[0].finish: "lenght" is not a finish reason; there are stop, length, tool_calls, content_filter; did you mean "length"?`),
		Entry("with a template's unknown field, in any branch", "replies: [{template: '{{if false}}{{.Usr}}{{end}}'}]",
			"replies[0].template: a template has no .Usr; it has .Model, .System, .User, .Turn, .Purpose, .Tags, .Messages, .Attempt; did you mean \"User\"?"),
		Entry("with states in a sequence", "replies: [{text: a, in: x, then: y}]",
			"replies[0].in: only rules have states; replies are used in order",
			"replies[0].then: only rules have states; replies are used in order"),
		Entry("with a state in a sequence", "{state: s, replies: [{text: a}]}", "state: only rules have states"),
		Entry("with a state that nothing leads to", "{state: start, rules: [{in: start, then: asked, text: a}, {in: aksed, text: b}]}",
			`rules[1].in: no rule leads to the state "aksed"; did you mean "asked"?`),
		Entry("with a cycle of states", "{state: a, rules: [{in: a, then: b, text: x}, {in: b, then: c, text: x}, {in: c, then: b, text: x}]}",
			"rules[2].then: the states form an endless cycle: b -> c -> b; bound one of its rules with times"),
		Entry("with a state that leads to itself", "{state: a, rules: [{in: a, then: a, text: x}]}",
			"rules[0].then: the states form an endless cycle: a -> a; bound one of its rules with times"),
		Entry("with a cycle over a rule for every state", "{state: a, rules: [{in: a, then: b, text: x}, {then: a, text: x}]}",
			"rules[1].then: the states form an endless cycle: a -> b -> a; bound one of its rules with times"),
		Entry("with negative numbers", "replies: [{text: a, times: -1, usage: {input: -1, output: 0}}]",
			"replies[0].times: must be at least 1, not -1", "replies[0].usage: token counts cannot be negative"),
		Entry("with more reasoning than output", "replies: [{text: a, usage: {input: 1, output: 1, reasoning: 2}}]",
			"replies[0].usage.reasoning: 2 is more than the output of 1, which includes it"),
		Entry("with too much jitter", "replies: [{text: a, latency: {jitter: 2}}]", "replies[0].latency.jitter: must be between 0 and 1, not 2"),
		Entry("with jitter that is no number", "replies: [{text: a, latency: {jitter: .nan}}]", "replies[0].latency.jitter: must be between 0 and 1, not NaN"),
		Entry("with a negative turn", "rules: [{when: {turn: -1}, text: a}]", "rules[0].when.turn: must be at least 0, not -1"),
		Entry("with a tool call without a name", "replies: [{tool_calls: [{id: a}, {name: f, id: b}, {name: f, id: b}]}]",
			"replies[0].tool_calls[0].name: a tool call needs the function's name",
			`replies[0].tool_calls[2].id: the id "b" is used twice in one answer`),
		Entry("with a file outside of the folder", "replies: [{file: ../secret}, {file: /etc/passwd}, {file: 'a\\b'}]",
			`replies[0].file: "../secret" must be a relative path with slashes that stays in the script's folder`,
			`replies[1].file: "/etc/passwd" must be a relative path with slashes that stays in the script's folder`,
			`replies[2].file: "a\\b" must be a relative path with slashes that stays in the script's folder`),
		Entry("with times given twice", "replies: [{times: 2, fault: {kind: timeout, times: 2}}]",
			"replies[0].fault.times: a line without an answer has times or fault.times, not both"),
		Entry("with a fault that can never strike so often", "replies: [{text: a, times: 2, fault: {kind: slow-drip, times: 3}}]",
			"replies[0].fault.times: slow-drip delivers the answer and cannot fire 3 times on a line that answers 2 times"),
		Entry("with a status of a process fault", "replies: [{fault: {kind: hang, status: 3}}, {fault: {kind: exit, status: 300}}]",
			"replies[0].fault.status: exit is the only process fault with a status",
			"replies[1].fault.status: an exit status is between 1 and 255, not 300"),
	)

	It("is refused with an unknown fault and its nearest word", func() {
		Expect(problems("replies: [{fault: timeot}, {fault: {kind: status, status: 200}}]")).To(HaveExactElements(
			And(HavePrefix(`replies[0].fault.kind: "timeot" is not a kind of fault; there are status, timeout,`), HaveSuffix(`did you mean "timeout"?`)),
			HavePrefix("replies[1].fault: fault status:"),
		))
	})

	It("is refused with all its problems at once", func() {
		_, err := mocks.Compile(mocks.Script{Replies: []mocks.Line{{}, {Answer: mocks.Answer{Finish: "x"}}}})
		Expect(err).To(MatchError(And(ContainSubstring("replies[0]:"), ContainSubstring("replies[1].finish"))))
	})

	DescribeTable("may have",
		func(text string) { Expect(problems(text)).To(BeEmpty()) },
		Entry("a cycle that times bounds", "{state: a, rules: [{in: a, then: b, text: x}, {in: b, then: a, text: x, times: 3}]}"),
		Entry("a rule for every state that ends it", "{state: a, rules: [{in: a, text: x}, {then: done, text: x}, {in: done, text: y}]}"),
		Entry("faults of processes", "replies: [{fault: hang}, {fault: {kind: exit, status: 3}}]"),
		Entry("an answer that is empty", "replies: [{text: ''}]"),
		Entry("a template with a loop", "replies: [{template: '{{range .Messages}}{{.Content}}{{else}}{{$.User}}{{end}}{{with .Tags}}{{.x}}{{end}}'}]"),
	)

	It("is not slow to validate, however its states are ordered", func() {
		var s mocks.Script
		text := "x"
		for i := range 10_000 {
			s.Rules = append(s.Rules, mocks.Line{In: fmt.Sprint(10_000 - i), Then: fmt.Sprint(10_001 - i), Answer: mocks.Answer{Text: mocks.Text(text)}})
		}
		s.State = "1"
		Expect(s.Validate()).To(BeEmpty())
	})
})

var _ = Describe("the files of a script", Label("H-02"), func() {
	script := func(files ...string) *mocks.Script {
		s := &mocks.Script{}
		for _, f := range files {
			s.Replies = append(s.Replies, mocks.Line{Answer: mocks.Answer{File: f}})
		}
		return s
	}

	It("are read into the lines", func() {
		s := script("a.txt", "./sub/../b.txt")
		Expect(s.Load(fstest.MapFS{"a.txt": {Data: []byte("A")}, "b.txt": {Data: []byte("")}})).To(Succeed())
		Expect(s.Replies[0].Text.String() + "|" + s.Replies[1].Text.String()).To(Equal("A|"))
		_, err := mocks.Compile(*s)
		Expect(err).NotTo(HaveOccurred())
	})

	It("must be read before the script is compiled", func() {
		_, err := mocks.Compile(*script("a.txt"))
		Expect(err).To(MatchError(ContainSubstring("not loaded")))
	})

	It("are refused all at once if missing, too large, not text, not regular or outside the folder", func() {
		s := script("missing", "big", "binary", "dir", "../x", "good")
		err := s.Load(fstest.MapFS{
			"big":    {Data: make([]byte, 10<<20+1)},
			"binary": {Data: []byte{0xff}},
			"dir":    {Mode: fs.ModeDir},
			"good":   {Data: []byte("fine")},
		})
		Expect(err).To(MatchError(And(
			ContainSubstring("replies[0].file"), ContainSubstring("larger than 10 MB"), ContainSubstring("not UTF-8"),
			ContainSubstring("not a regular file"), ContainSubstring("stays in the script's folder"))))
		Expect(s.Replies[5].Text.String()).To(Equal("fine"))
	})

	It("do not leave the folder through a symbolic link", func() {
		folder := GinkgoT().TempDir()
		Expect(os.Mkdir(filepath.Join(folder, "in"), 0o700)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(folder, "secret"), []byte("x"), 0o600)).To(Succeed())
		Expect(os.Symlink("../secret", filepath.Join(folder, "in", "link"))).To(Succeed())
		root, err := os.OpenRoot(filepath.Join(folder, "in"))
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(root.Close)
		Expect(script("link").Load(root.FS())).NotTo(Succeed())
	})
})

var _ = DescribeTable("a script written in Go is refused for what no file can contain,", Label("H-02"),
	func(line mocks.Line, field, want string) {
		_, err := mocks.Compile(mocks.Script{Replies: []mocks.Line{mocks.Say("hi"), line}})
		Expect(err).To(MatchError(And(ContainSubstring("replies[1]."+field+": "), ContainSubstring(want))))
	},
	Entry("text that is not UTF-8", mocks.Say("a\xff"), "text", "invalid UTF-8"),
	Entry("a condition that is not UTF-8", mocks.Say("a").IfUser("\xff"), "when.user.contains", "invalid UTF-8"),
	Entry("an empty condition", mocks.Say("a").IfUser(""), "when.user", "exactly one"),
	Entry("an argument of no JSON type", mocks.CallTool("f", map[string]any{"x": []any{make(chan int)}}), "tool_calls[0].arguments.x[0]", "chan int"),
	Entry("an argument that is not a number", mocks.CallTool("f", map[string]any{"x": math.NaN()}), "tool_calls[0].arguments.x", "NaN"),
	Entry("a tool call without a name", mocks.CallTool("", nil), "tool_calls[0].name", "needs the function's name"),
	Entry("a negative latency", mocks.Line{Answer: mocks.Answer{Text: "a", Latency: &mocks.Latency{First: -1}}}, "latency", "negative"),
	Entry("an unknown fault", mocks.Fail(mocks.Fault{Kind: "statsu"}), "fault.kind", `did you mean "status"?`),
	Entry("a status of success", mocks.Fail(mocks.Fault{Kind: "status", Status: 200}), "fault", "400 to 599"),
	Entry("a negative number of times", mocks.Line{Answer: mocks.Answer{Text: "a"}, Times: -1}, "times", "at least 1"),
)
