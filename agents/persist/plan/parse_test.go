package plan_test

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/llm"
)

const whole = `
name: release-1.2
goal: Get the release out.
tasks:
  - id: notes
    do: Write the release notes.
    by: writer
    input: {since: v1.1}
    files: [CHANGELOG.md, docs/notes.md]
    retries: 0
    timeout: 20m
    accept: [{command: [sh, accept.sh], timeout: 1m}, {command: ["true"], env: [API_TOKEN]}]
  - {id: build, do: Build it., after: [notes]}
  - {id: publish, do: Publish it., after: [notes, build], by: publisher}
workers:
  default: {loop: {mode: json, max_iterations: 20}}
  writer: {react: {agent: agents/writer.agent.md, workspace: ., max_iterations: 7}}
  publisher: {command: [./publish.sh, --yes]}
checks:
  tests: {command: [go, test, ./...], timeout: 5m, fix: Mend the tests., by: writer}
  todos: {file: TODO.md}
  features: {markers: [TODO, FIXME], in: ["**/*.go"]}
  validation: {none: CI does it.}
limits:
  rounds: 2
  check_every: 3
  timeout: 10h
  budget: {calls: 100, cost: 5 EUR}
  save_every: 1m
  soft_calls: 90
  hard_calls: 100
`

// refused returns the places and messages of what is wrong, a line each.
func refused(text string) []string {
	GinkgoHelper()
	p, found := plan.Parse("plan.yaml", []byte(text))
	Expect(found).NotTo(BeEmpty())
	Expect(p).To(Equal(plan.Plan{}), "a plan that must not be used")
	return strings.Split(found.Error(), "\n")
}

// one returns a plan of one task with something after it.
func one(more string) string { return "name: p\ntasks: [{id: a, do: x}]\n" + more }

// of returns a plan of the tasks, a line each.
func of(tasks ...string) string {
	return "name: p\ntasks:\n  - " + strings.Join(tasks, "\n  - ") + "\n"
}

var _ = Describe("Parse", func() {
	It("reads every field", func() {
		p, found := plan.Parse("plan.yaml", []byte(whole))
		Expect(found).To(BeEmpty())
		Expect(p.Name).To(Equal("release-1.2"))
		Expect(p.Tasks).To(HaveLen(3))
		Expect(p.Tasks[0].Input).To(Equal(map[string]any{"since": "v1.1"}))
		Expect(p.Tasks[0].Files).To(Equal([]string{"CHANGELOG.md", "docs/notes.md"}))
		Expect(p.Tasks[0].Timeout.Std()).To(Equal(20 * time.Minute))
		Expect(p.Tasks[0].Accept[0].Probe().Timeout.Std()).To(Equal(time.Minute))
		Expect(p.Tasks[0].Accept[1].Probe()).To(Equal(plan.Probe{
			Command: []string{"true"}, Env: []string{"API_TOKEN"}, Timeout: quantity.Duration(10 * time.Minute),
		}))
		Expect(p.Tasks[0].MaxRetries()).To(BeZero())
		Expect(p.Tasks[1].MaxRetries()).To(Equal(2))
		Expect(p.Tasks[0].Worker()).To(Equal("writer"))
		Expect(p.Tasks[1].Worker()).To(Equal("default"))
		Expect(*p.Workers["default"].Loop.MaxIterations).To(Equal(20))
		Expect(p.Workers["writer"].React.Agent).To(Equal("agents/writer.agent.md"))
		Expect(p.Workers["publisher"].Command).To(Equal([]string{"./publish.sh", "--yes"}))
		Expect(p.Checks[plan.CheckTests].Command).To(Equal([]string{"go", "test", "./..."}))
		Expect(p.Checks[plan.CheckFeatures].In).To(Equal([]string{"**/*.go"}))
		Expect(p.Limits.Budget).To(Equal(llm.Caps{Calls: 100, Cost: quantity.Money{Amount: 5, Currency: quantity.EUR}}))
	})

	DescribeTable("names place and cause of", func(text string, want ...string) {
		Expect(refused(text)).To(Equal(want))
	},
		Entry("an unknown key", one("limit: {}"), `plan.yaml:3:1: unknown key "limit" (did you mean "limits"?)`),
		Entry("a task without an id, once", of("{do: x}"), `plan.yaml:3:5: the key "id" is missing`),
		Entry("a bad name", "name: A b\ntasks: [{id: a, do: x}]", `plan.yaml:1:7: "A b" is not a name; write up to 64 lower-case letters, digits, ".", "_" and "-", the first a letter or digit`),
		Entry("a bad id", of("{id: A, do: x}"), `plan.yaml:3:10: "A" is not an id; write up to 64 lower-case letters, digits, ".", "_" and "-", the first a letter or digit`),
		Entry("no tasks", "name: p\ntasks: []", `plan.yaml:2:1: the plan has no tasks; give at least one`),
		Entry("a task without a text", of(`{id: a, do: " "}`), `plan.yaml:3:17: the task is empty; describe what is to be done`),
		Entry("a duplicate id", of("{id: a, do: x}", "{id: b, do: x}", "{id: a, do: x}"), `plan.yaml:5:10: the id "a" is given twice; tasks[0] has it too`),
		Entry("an acceptance without a program", of(`{id: a, do: x, accept: [{command: [" "]}]}`), `plan.yaml:3:40: the name of the program is empty`),
		Entry("an unknown dependency", of("{id: build, do: x}", "{id: b, do: x, after: [biuld]}"), `plan.yaml:4:28: there is no task with the id "biuld" (did you mean "build"?)`),
		Entry("a dependency given twice", of("{id: a, do: x}", "{id: b, do: x, after: [a, a]}"), `plan.yaml:4:31: the dependency "a" is given twice`),
		Entry("a task that waits for itself", of("{id: a, do: x, after: [a]}"), `plan.yaml:3:28: the tasks depend on each other: a → a; remove one of these dependencies`),
		Entry("a cycle", of("{id: a, do: x, after: [b]}", "{id: b, do: x, after: [a]}"), `plan.yaml:4:28: the tasks depend on each other: a → b → a; remove one of these dependencies`),
		Entry("two cycles through one task", of("{id: a, do: x, after: [b, c]}", "{id: b, do: x, after: [a]}", "{id: c, do: x, after: [a]}"),
			`plan.yaml:4:28: the tasks depend on each other: a → b → a; remove one of these dependencies`,
			`plan.yaml:5:28: the tasks depend on each other: a → c → a; remove one of these dependencies`),
		Entry("an unknown worker", of("{id: a, do: x, by: defualt}"), `plan.yaml:3:24: there is no worker "defualt"; there are default (did you mean "default"?)`),
		Entry("an unknown worker of a probe", one("checks: {tests: {command: [x], by: y}}"), `plan.yaml:3:36: there is no worker "y"; there are default`),
		Entry("an unknown check", one("checks: {test: {command: [x]}}"), `plan.yaml:3:10: there is no check "test"; there are todos, compile, tests, features, problems, validation, pending-tasks, dependencies, checkpoints, corrections, tool-calls, soft-limit, stop-guard (did you mean "tests"?)`),
		Entry("a probe of no kind", one("checks: {tests: {fix: x}}"), `plan.yaml:3:10: a probe needs one of command, file, markers, none`),
		Entry("a probe of two kinds", one("checks: {tests: {command: [x], file: y}}"), `plan.yaml:3:10: a probe must have only one of command, file, markers, none, not command and file`),
		Entry("a timeout of no command", one("checks: {todos: {file: x, timeout: 1s}}"), `plan.yaml:3:36: only a command has a timeout`),
		Entry("globs without markers", one("checks: {todos: {file: x, in: ['*']}}"), `plan.yaml:3:27: only markers are searched in files; give markers, or remove in`),
		Entry("a glob that leaves the folder", one("checks: {features: {markers: [TODO], in: ['../*']}}"), `plan.yaml:3:43: cannot be used: the pattern "../*" has the part ".."; write a path below the folder, such as src/**/*.go`),
		Entry("a marker of two lines", one(`checks: {features: {markers: ["a\nb"]}}`), `plan.yaml:3:31: "a\nb" is not a marker; write a word such as TODO, of at most 64 bytes`),
		Entry("a worker of no kind", one("workers: {w: {}}"), `plan.yaml:3:11: a worker needs one of loop, react, command`),
		Entry("a worker of two kinds", one("workers: {w: {command: [x], loop: {}}}"), `plan.yaml:3:11: a worker must have only one of loop, react, command, not loop and command`),
		Entry("a command without a program", one("workers: {w: {command: ['']}}"), `plan.yaml:3:25: the name of the program is empty`),
		Entry("a value in the environment", one("workers: {w: {command: [x], env: ['A=b']}}"), `plan.yaml:3:35: "A=b" is not the name of a variable; give only the name, without a value`),
		Entry("an environment of no command", one("checks: {todos: {file: x, env: [A]}}"), `plan.yaml:3:27: only a command has an environment`),
		Entry("a prompt of a worker", one("workers: {w: {loop: {prompt: x}}}"), `plan.yaml:3:30: the prompt of a worker is its task; remove it, and write in goal what applies to all tasks`),
		Entry("a backend of a worker", one("workers: {w: {loop: {backend: codex}}}"), `plan.yaml:3:31: the backend is chosen for the whole run; remove it`),
		Entry("options that the loop refuses", one("workers: {a.b: {loop: {alternation_limit: 1}}}"), `plan.yaml:3:43: 1 is not allowed, as any two answers are a cycle that came once; use 2 or more, or 0 for off`),
		Entry("soft calls above hard ones", one("limits: {soft_calls: 10, hard_calls: 10}"), `plan.yaml:3:22: soft_calls (10) is not below hard_calls (10), so no checkpoint would be made before the segment ends`),
		Entry("soft calls above the default of hard ones", one("limits: {soft_calls: 2000}"), `plan.yaml:3:22: soft_calls (2000) is not below hard_calls (1000), so no checkpoint would be made before the segment ends`),
		Entry("an agent outside", one("workers: {w: {react: {agent: ../a.md}}}"), `plan.yaml:3:30: "../a.md" leaves the folder of the plan; write a relative path inside it`),
		Entry("an absolute workspace", one("workers: {w: {react: {agent: a.md, workspace: /tmp}}}"), `plan.yaml:3:47: "/tmp" leaves the folder of the plan; write a relative path inside it`),
		Entry("a file outside", of("{id: a, do: x, files: [a/../../b]}"), `plan.yaml:3:28: "a/../../b" leaves the folder of the plan; write a relative path inside it`),
		Entry("a todo file outside", one("checks: {todos: {file: /etc/passwd}}"), `plan.yaml:3:24: "/etc/passwd" leaves the folder of the plan; write a relative path inside it`),
		Entry("too many retries", of("{id: a, do: x, retries: 101}"), `plan.yaml:3:29: found the number 101; expected at most 100`),
		Entry("a negative limit", one("limits: {rounds: -1}"), `plan.yaml:3:18: found the number -1; expected at least 1`),
		Entry("an empty file", "", `plan.yaml: the file is empty; expected a mapping`),
		Entry("no YAML", "{{", `plan.yaml:2:1: not valid YAML: while parsing a flow node: did not find expected node content`),
		Entry("a list", "- a", `plan.yaml:1:1: found a list; expected a mapping`),
		Entry("a binary file", "\x7fELF\x00\xff", `plan.yaml:1:6: found a byte that is not UTF-8`),
	)

	It("reports everything at once, in the order of the file", func() {
		Expect(refused("name: p\ngaol: x\ntasks:\n  - {id: a, do: x, after: [c]}\n  - {id: a, do: x, by: y}\nlimits: {rounds: 0}\n")).To(HaveExactElements(
			HavePrefix("plan.yaml:2:1: unknown key"), HavePrefix("plan.yaml:4:28: there is no task"),
			HavePrefix("plan.yaml:5:10: the id"), HavePrefix("plan.yaml:5:24: there is no worker"), HavePrefix("plan.yaml:6:18: found the number 0"),
		))
	})

	It("names a long cycle shortly", func() {
		tasks := make([]string, 1000)
		for i := range tasks {
			tasks[i] = fmt.Sprintf("{id: t%d, do: x, after: [t%d]}", i, (i+1)%1000)
		}
		Expect(refused(of(tasks...))).To(ConsistOf(ContainSubstring("t0 → t1 → t2 → t3 → t4 → t5 → t6 → t7 → t8 → t9 → … (990 more) → t0;")))
	})

	It("refuses a plan that is too large", func() {
		Expect(refused(of(slicesOf(maxTasks+1, "{id: a%d, do: x}")...))).To(ConsistOf(ContainSubstring("the plan has 10001 tasks; at most 10000 are allowed")))
		Expect(refused(one("goal: " + strings.Repeat("x", yamlsrc.MaxBytes)))).To(ConsistOf(ContainSubstring("at most 1048576 are allowed")))
		Expect(refused(one("goal: " + strings.Repeat("x", 70_000)))).To(ConsistOf(ContainSubstring("the text has 70000 bytes; at most 65536 are allowed")))
		Expect(refused(of("{id: a, do: x, files: [" + strings.Repeat("f,", 1001) + "]}"))).To(ConsistOf(ContainSubstring("the list has 1001 entries; at most 1000 are allowed")))
	})

	It("refuses an alias bomb", func() {
		bomb := "name: p\ntasks:\n  - id: a\n    do: x\n    input:\n      l0: &l0 {x: 1}\n"
		for i := range 9 {
			bomb += fmt.Sprintf("      l%d: &l%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*l%d,", i), 10))
		}
		Expect(refused(bomb)).To(ConsistOf(ContainSubstring("aliases expand to more than 10000 values")))
	})

	It("lists a hundred problems and no more, however many there are", func() {
		Expect(refused(of(slicesOf(maxTasks, "{id: a%d, do: x, after: [b%[1]d], by: w}")...))).To(HaveLen(100))
	})
})

// slicesOf are n tasks by a format that is given their number.
func slicesOf(n int, format string) []string {
	tasks := make([]string, n)
	for i := range tasks {
		tasks[i] = fmt.Sprintf(format, i)
	}
	return tasks
}

var _ = Describe("Limits", func() {
	It("have the documented defaults", func() {
		l := plan.Limits{}.WithDefaults()
		Expect(l).To(Equal(plan.Limits{
			Rounds: 5, CheckEvery: 5, SaveEvery: quantity.Duration(5 * time.Minute), Stagnation: quantity.Duration(10 * time.Minute),
			NoProgress: quantity.Duration(2 * time.Hour), ShortRun: quantity.Duration(30 * time.Minute), ContextFiles: 50,
			OptimiseEvery: quantity.Duration(15 * time.Minute), SoftCalls: 900, HardCalls: 1000, Segments: 100,
		}))
		Expect(l.WithDefaults()).To(Equal(l))
	})

	DescribeTable("put the soft limit below the hard one", func(hard, soft int) {
		Expect(plan.Limits{HardCalls: hard}.WithDefaults().SoftCalls).To(Equal(soft))
	}, Entry("2 tasks", 2, 1), Entry("5 tasks", 5, 4), Entry("10 tasks", 10, 9), Entry("100 tasks", 100, 90))
})

var _ = It("has a runner loop as its only default worker", func() {
	w, ok := plan.Plan{}.Worker("default")
	Expect(ok).To(BeTrue())
	Expect(w.Loop).NotTo(BeNil())
	_, ok = plan.Plan{}.Worker("x")
	Expect(ok).To(BeFalse())
	own := map[string]plan.Worker{"default": {Command: []string{"x"}}}
	w, _ = plan.Plan{Workers: own}.Worker("default")
	Expect(w).To(Equal(own["default"]))
})

var _ = It("gives a command of a probe ten minutes", func() {
	Expect(plan.Probe{Command: []string{"x"}}.WithDefaults().Timeout.Std()).To(Equal(10 * time.Minute))
	Expect(plan.Probe{File: "x"}.WithDefaults().Timeout).To(BeZero())
})
