package scenarios_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing/fstest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	loopkind "github.com/rehearse-dev/rehearse/agents/loop/kind"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// right is a scenario with nothing wrong; the cases below change one thing.
const right = `name: a/b
about: It works.
proves: [L-05]
tags: [golden]
drive:
  loop: {prompt: Work.}
backend:
  model: gpt-4.1-mini
  replies:
    - {text: One}
    - {text: DONE}
expect:
  status: done
  calls: 2
`

// change replaces the only occurrence of old in right.
func change(old, with string) string {
	if strings.Count(right, old) != 1 {
		panic(fmt.Sprintf("%q is not exactly once in the scenario", old))
	}
	return strings.Replace(right, old, with, 1)
}

func parse(text string) (scenarios.Scenario, scenarios.Diagnostics) {
	files := fstest.MapFS{"answers/one.txt": {Data: []byte("One")}}
	return scenarios.Parse("s.yaml", []byte(text), files, scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check, CheckInvariant: kinds.Language().CheckInvariant})
}

var _ = Describe("Parse", func() {
	It("reads a scenario and decides what the file leaves open", func() {
		sc, found := parse(right)
		Expect(found).To(BeEmpty())
		Expect(sc.Name).To(Equal("a/b"))
		Expect(sc.File).To(Equal("s.yaml"))
		Expect(sc.Trials).To(Equal(1))
		Expect(sc.Seed).To(BeEquivalentTo(1))
		Expect(sc.Drive.Options.(*loopkind.Options).Prompt).To(Equal("Work."))
		Expect(sc.Backend.Replies).To(HaveLen(2))
		Expect(*sc.Expect.Calls.Exactly).To(Equal(2))
		Expect(sc.Expect.Allow).To(BeEmpty())
	})

	It("decodes every key", func() {
		sc, found := parse(right + "trials: 3\nseed: 7\n")
		Expect(found).To(BeEmpty())
		Expect(sc.Trials).To(Equal(3))
		Expect(sc.Seed).To(BeEquivalentTo(7))
	})

	It("allows what a lenient script forgives", func() {
		sc, found := parse(change("model:", "lenient: true\n  model:"))
		Expect(found).To(BeEmpty())
		Expect(sc.Expect.Allow).To(ConsistOf("unused-line", "unexpected-call"))
	})

	It("puts the text of a file in place of its name", func() {
		sc, found := parse(change("text: One", "file: answers/one.txt"))
		Expect(found).To(BeEmpty())
		Expect(sc.Backend.Replies[0].Text.String()).To(Equal("One"))
		Expect(sc.Backend.Replies[0].File).To(BeEmpty())
	})

	It("has a digest that covers the file and the files it names", func() {
		digest := func(text, answer string) string {
			files := fstest.MapFS{"one.txt": {Data: []byte(answer)}}
			sc, found := scenarios.Parse("s.yaml", []byte(text), files, scenarios.Options{Kinds: kinds.All().Formats()})
			Expect(found).To(BeEmpty())
			return sc.Digest
		}
		named := change("text: One", "file: one.txt")
		Expect(digest(named, "One")).To(MatchRegexp("^sha256:[0-9a-f]{64}$"))
		Expect(digest(named, "One")).To(Equal(digest(named, "One")))
		Expect(digest(named, "One")).ToNot(Equal(digest(named, "Two")))
		Expect(digest(named, "One")).ToNot(Equal(digest(named+"# x\n", "One")))
		Expect(digest(right, "One")).To(Equal(digest(right, "Two")))
	})

	It("has the hashes of its files, and of those of the program that it runs, which are no part of the digest", func() {
		of := func(agent string) scenarios.Scenario {
			files := fstest.MapFS{"one.txt": {Data: []byte("One")}, "bin/agent.py": {Data: []byte(agent)}}
			text := change("text: One", "file: one.txt")
			text = strings.Replace(text, "loop: {prompt: Work.}", `command: {run: [python3, "{here}/bin/agent.py", "{here}/../x"], turns: [Hi]}`, 1)
			sc, found := scenarios.Parse("some/s.yaml", []byte(text), files, scenarios.Options{Kinds: kinds.All().Formats()})
			Expect(found).To(BeEmpty())
			return sc
		}
		one, two := of("print(1)"), of("print(2)")
		Expect(one.Files).To(And(HaveLen(3), HaveKey("s.yaml"), HaveKey("bin/agent.py")))
		Expect(one.Files["one.txt"]).To(Equal(fmt.Sprintf("%x", sha256.Sum256([]byte("One")))))
		Expect(one.Files["bin/agent.py"]).NotTo(Equal(two.Files["bin/agent.py"]))
		Expect(one.Digest).To(Equal(two.Digest))
	})

	DescribeTable("reports errors with their place and a suggestion",
		func(text, want string) {
			_, found := parse(text)
			Expect(found.Error()).To(Equal(want))
		},
		Entry("unknown key", change("about:", "abuot:"), `s.yaml:2:1: unknown key "abuot" (did you mean "about"?)`),
		Entry("unknown key of the loop's options, which are inlined", change("prompt: Work.", "prompt: Work., max_iteration: 3"), `s.yaml:6:25: unknown key "max_iteration" (did you mean "max_iterations"?)`),
		Entry("unknown key of the script, which is inlined", change("replies:", "replys:"), `s.yaml:9:3: unknown key "replys" (did you mean "replies"?)`),
		Entry("wrong type", change("calls: 2", "calls: two"), `s.yaml:14:10: "two" is not a count; write a whole number, or a mapping with at_least and at_most`),
		Entry("not a name", change("a/b", "A b"), `s.yaml:1:7: "A b" is not a name; write lower-case letters, digits, ".", "_" and "-" in parts between slashes, such as "loop/no-progress"`),
		Entry("not a tag", change("[golden]", "[golden, Not this]"), `s.yaml:4:16: "Not this" is not a tag; write lower-case letters, digits, ".", "_" and "-"`),
		Entry("not a requirement", change("[L-05]", "[L-05, X 1]"), `s.yaml:3:16: "X 1" is not the id of a requirement; write letters, digits, "-", "_", "." and "/", at most 64, such as "REQ-12"`),
		Entry("two agents", change("loop: {prompt: Work.}", "{loop: {prompt: Work.}, interview: {persona: lea}}"), `s.yaml:5:1: the scenario drives several agents: loop, interview; a scenario drives exactly one`),
		Entry("no agent", change("loop: {prompt: Work.}", "{}"), `s.yaml:5:1: the scenario drives no agent; write an agent, such as "loop: {prompt: ...}"`),
		Entry("an option of the loop", change("prompt: Work.", `prompt: Work., marker: " x"`), `s.yaml:6:33: marker " x" can never be found; use text on one line without space around it`),
		Entry("an option of the loop that is missing", change("prompt: Work.", ""), `s.yaml:6:3: prompt is empty; say what the agent is to do`),
		Entry("an option in the configuration file", change("prompt: Work.", `prompt: Work., config: {marker: ""}`), ``),
		Entry("a value in the configuration file", change("prompt: Work.", `prompt: Work., config: {alternation_limit: 1}`), `s.yaml:6:53: alternation_limit 1 is not allowed, as any two answers are a cycle that came once; use 2 or more, or 0 for off`),
		Entry("unknown status", change("status: done", "status: doen"), `s.yaml:13:11: the loop never ends with status "doen"; choose from done, error, timeout, max-iterations, no-progress, blocked, budget, capped, limited, interrupted (did you mean "done"?)`),
		Entry("unknown model", change("gpt-4.1-mini", "gpt-4.1-mni"), `s.yaml:8:10: the price table has no model "gpt-4.1-mni"; correct it, or write unpriced: true for an unknown cost (did you mean "gpt-4.1-mini"?)`),
		Entry("no model", change("model: gpt-4.1-mini", "retry: 1"), `s.yaml:7:1: the backend needs a model for its price; write unpriced: true if it has none`),
		Entry("a model without a price, on purpose", change("gpt-4.1-mini", "in-house-7b\n  unpriced: true"), ``),
		Entry("no model, on purpose", change("model: gpt-4.1-mini", "unpriced: true"), ``),
		Entry("a file that is not there", change("text: One", "file: answers/on.txt"), `s.yaml:10:14: open answers/on.txt: file does not exist (did you mean "answers/one.txt"?)`),
		Entry("a file outside of the folder", change("text: One", "file: ../secret.txt"), `s.yaml:10:14: "../secret.txt" must be a relative path with slashes that stays in the script's folder`),
		Entry("a bad regular expression", change("text: One", "text: One, when: {user: {matches: '('}}"), "s.yaml:10:42: error parsing regexp: missing closing ): `(` (RE2 syntax)"),
		Entry("a fault of a process at an API", change("text: One", "fault: ignore-sigterm"), `s.yaml:10:15: only a command-line agent can show the fault "ignore-sigterm"; write as: claude, codex or exec`),
		Entry("a fault of an API at a process", strings.Replace(change("text: One", "fault: {kind: status}"), "model:", "as: claude\n  model:", 1), `s.yaml:11:8: a command-line agent (as: claude) cannot show the fault "status"; it can show `+strings.Join(mocks.ProcessFaults(), ", ")),
		Entry("retries of a process", change("model:", "as: exec\n  retry: 1\n  model:"), `s.yaml:9:10: a command-line agent (as: exec) is not retried; only the client of an API is`),
		Entry("retries that cannot be known", strings.Replace(change("calls: 2", "retries: 1"), "model:", "as: exec\n  model:", 1), `s.yaml:15:12: retries of a command-line agent (as: exec) are unknown; expect calls instead`),
		Entry("states that go round for ever", change("replies:\n    - {text: One}\n    - {text: DONE}", "rules:\n    - {text: One, in: x, then: y}\n    - {text: DONE, in: y, then: x}\n    - {text: x, then: x}"), `s.yaml:11:33: the states form an endless cycle: x -> y -> x; bound one of its rules with times`),
		Entry("an expression", change("calls: 2", "that: [calls.total == 2, run.sttus == 'x']"), `s.yaml:14:28: the expression cannot be used: column 4: undefined field 'sttus' (did you mean "status"?)`),
		Entry("no expectation", change("expect:\n  status: done\n  calls: 2\n", "expect: {}\n"), `s.yaml:12:1: the scenario expects nothing and could never fail; expect at least a status`),
		Entry("nothing to expect where something goes wrong", change("expect:\n  status: done\n  calls: 2\n", "perturb: ['call=1:timeout']\n"), ``),
		Entry("an unknown perturbation", right+"perturb: ['turn=2:duoble']\n", `s.yaml:15:11: perturbation "turn=2:duoble": "duoble" cannot happen at a turn; did you mean "double"?`),
		Entry("a perturbation of a process at an API", right+"perturb:\n  - call=1:timeout\n  - call=2:hang\n", `s.yaml:17:5: only a command-line agent can show the fault "hang"; an API can show `+strings.Join(mocks.APIFaults(), ", ")),
		Entry("a write of what writes nothing", right+"perturb: ['write=1:disk-full']\n", `s.yaml:15:11: the agent stores nothing on disk that the harness sees, so it has no writes; only an interview and a supervised run have some`),
		Entry("a turn of what takes none", right+"perturb: ['turn=1:double']\n", `s.yaml:15:11: the agent has no turns; only an interview and external agents have some`),
		Entry("a perturbation twice", right+"perturb: ['call=1:status,times=2,status=503', 'call=1:status,status=503,times=2']\n", `s.yaml:15:47: the perturbation call=1:status,status=503,times=2 is repeated`),
		Entry("an invariant", right+"invariants: ['calls.total > 0', 'golden.cals == 1']\n", `s.yaml:15:33: the invariant cannot be used: column 7: undefined field 'cals' (did you mean "calls"?)`),
		Entry("an invariant that cannot fail", right+"invariants: ['true']\n", `s.yaml:15:14: the invariant cannot be used: column 1: reads no fact of the run, so its value is the same for every run; compare a fact such as calls.total or run.status`),
		Entry("an unknown rule to allow", change("calls: 2", "allow: [unused-lines]"), `s.yaml:14:11: found the text "unused-lines" (did you mean "unused-line"?)`),
		Entry("counts that no number meets", change("calls: 2", "calls: {at_least: 3, at_most: 2}"), `s.yaml:14:10: no number is at least 3 and at most 2`),
		Entry("a count with everything", change("calls: 2", "calls: {exactly: 3, at_most: 2}"), `s.yaml:14:10: exactly cannot be combined with at_least and at_most`),
		Entry("a count with nothing", change("calls: 2", "calls: {}"), `s.yaml:14:10: a count needs one of exactly, at_least and at_most`),
		Entry("a list for a count", change("calls: 2", "calls: [2]"), `s.yaml:14:10: found a list, not a count; write a whole number, or a mapping with at_least and at_most`),
		Entry("a negative count", change("calls: 2", "calls: -1"), `s.yaml:14:10: "-1" is not a count; write a whole number, or a mapping with at_least and at_most`),
		Entry("a syntax error, and nothing that follows from it", change("tags: [golden]", "tags: [golden"), `s.yaml:5:6: not valid YAML: while parsing a flow sequence: did not find expected ',' or ']'`),
	)

	It("names the nearest kind of fault", func() {
		_, found := parse(change("text: One", "fault: timeuot"))
		Expect(found.Error()).To(And(HavePrefix(`s.yaml:10:15: "timeuot" is not a kind of fault`), HaveSuffix(`(did you mean "timeout"?)`)))
	})

	It("reports syntactic and semantic problems together, in the order of the file", func() {
		_, found := parse(`name: A
drive:
  loop: {prompt: "", timeout: 5}
backend:
  model: gpt-4.1-mni
  replies:
    - {txt: One}
    - {text: x, file: y.txt}
expect: {status: don, calls: x, that: [calls]}
`)
		var places []string
		for _, d := range found {
			places = append(places, fmt.Sprintf("%d:%s", d.Line, d.Path))
		}
		Expect(places).To(Equal([]string{
			"1:name", "3:drive.loop.prompt", "3:drive.loop.timeout", "5:backend.model", "7:backend.replies[0].txt",
			"8:backend.replies[1].file", "9:expect.status", "9:expect.calls", "9:expect.that[0]",
		}))
		Expect(found[0].Detail()).To(HaveSuffix("\n  1 | name: A\n    |       ^"))
	})
})
