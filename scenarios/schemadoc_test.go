package scenarios_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	reflector "github.com/invopop/jsonschema"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/schema"
)

// defaultWords match the default of a key in its doc comment: `"stdin" (default)`, `default 30s`,
// `Default marker.`, `"DONE"`. What is described in other words has no value here.
var defaultWords = []*regexp.Regexp{
	regexp.MustCompile(`"([^"]+)" \(default[;)]`),
	regexp.MustCompile(`\bdefault:? "([^"]+)"(?:[.,;]|$)`),
	regexp.MustCompile(`[;.(] ?[dD]efault:? ([a-z0-9.]+)(?: \(off\))?(?:[,;)]|\.?$|\. )`),
}

// otherDefault matches a default that differs in a format: "in scenarios 5m", "in scenarios and in plans 0 (off)".
var otherDefault = map[string]*regexp.Regexp{
	"scenario": regexp.MustCompile(`\bin scenarios(?: and in plans)? ([a-z0-9.]+)`),
	"plan":     regexp.MustCompile(`\bin (?:scenarios and in )?plans ([a-z0-9.]+)`),
}

// defaultIn returns the default in a format that a description names, as a value of the schema.
func defaultIn(format string, s *reflector.Schema) (value any, ok bool) {
	words := defaultWords
	if other := otherDefault[format]; other != nil && other.MatchString(s.Description) {
		words = []*regexp.Regexp{other}
	}
	text := ""
	for _, words := range words {
		if m := words.FindStringSubmatch(s.Description); m != nil {
			text = strings.TrimSuffix(m[1], ".")
			break
		}
	}
	if text == "" {
		return nil, false
	}
	switch s.Type {
	case "integer":
		n, err := strconv.Atoi(text)
		return n, err == nil
	case "number":
		f, err := strconv.ParseFloat(text, 64)
		return json.Number(text), err == nil && f == f
	case "boolean":
		b, err := strconv.ParseBool(text)
		return b, err == nil
	case "string":
		if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(text) {
			return nil, false
		}
		for _, word := range s.Enum {
			if word == text {
				return text, true
			}
		}
		return text, len(s.Enum) == 0 && (s.Pattern != "" || strings.Contains(s.Description, `"`+text+`"`))
	}
	return nil, false
}

// schemaExamples are examples of keys whose form is not obvious, by the type and the key. Keys of the file
// itself have the name of the format as their type.
var schemaExamples = map[string][]any{
	"scenario.name":       {"shop/refund"},
	"scenario.proves":     {[]any{"H-01"}},
	"scenario.tags":       {[]any{"money", "slow"}},
	"scenario.invariants": {[]any{"// few-calls: a failed call costs no more than one retry\ncalls.total <= golden.calls.total + run.perturbed"}},
	"scenario.perturb":    {[]any{"call=2:status,status=503"}, []any{"call=1:reset-mid-stream", "call=2:empty-text"}},

	"command.Options.run":    {[]any{"python3", "{here}/../agent.py"}, []any{"node", "{here}/../agent.mjs"}},
	"command.Options.env":    {map[string]any{"LOG_LEVEL": "debug"}},
	"command.Options.turns":  {[]any{"What is the capital of France?", "And of Spain?"}},
	"command.Options.files":  {map[string]any{"notes/todo.md": "- buy milk\n"}},
	"command.Options.answer": {"$.result"},

	"http.Options.run":     {[]any{"node", "{here}/../server.mjs"}},
	"http.Options.env":     {map[string]any{"LOG_LEVEL": "debug"}},
	"http.Options.url":     {"http://127.0.0.1:8080"},
	"http.Options.health":  {"/healthz"},
	"http.Options.turns":   {[]any{"What is the capital of France?"}},
	"http.Options.files":   {map[string]any{"notes/todo.md": "- buy milk\n"}},
	"http.Options.answer":  {"$.reply"},
	"http.Options.session": {"$.session"},
	"http.Request.headers": {map[string]any{"X-Tenant": "demo"}},
	"http.Request.body":    {`{"session": {{json .Session}}, "message": {{json .Turn}}}`},

	"container.Options.image":   {"example/agent:1.2"},
	"container.Options.build":   {".."},
	"container.Options.port":    {8080},
	"container.Options.turns":   {[]any{"What is the capital of France?"}},
	"container.Options.session": {"$.session"},

	"coding.Options.turns":   {[]any{"Make the tests pass."}},
	"coding.Options.files":   {map[string]any{"sum.go": "package sum\n"}},
	"function.Options.turns": {[]any{"What is the capital of France?"}},

	"expect.Expect.status":   {"done"},
	"expect.Expect.calls_by": {map[string]any{"loop": 3}},
	"expect.Expect.that":     {[]any{`run.text.contains("Paris")`, "calls.total <= 3"}},
	"expect.Expect.allow":    {[]any{"unused-line"}},

	"mocks.When.metadata":              {map[string]any{"user_id": "17"}},
	"mocks.When.header":                {map[string]any{"X-Tenant": "demo"}},
	"mocks.Line.template":              {"You said: {{.User}}"},
	"mocks.ScriptedToolCall.arguments": {map[string]any{"id": "A-17"}},

	"agentfile.Command.command": {[]any{"go", "test", "{package}"}},
	"agentfile.Server.command":  {[]any{"npx", "some-mcp-server"}},
	"agentfile.Server.env":      {[]any{"TRACKER_TOKEN"}},
	"agentfile.Input.name":      {"file"},

	"experiment.name":             {"interview/mirror"},
	"experiment.scenarios":        {[]any{"refund.yaml", "loop/*"}},
	"experiment.Variant.set":      {map[string]any{"backend.model": "gpt-4.1"}, map[string]any{"drive.loop.prompt": map[string]any{"file": "terse.md"}}},
	"experiment.Measure.expr":     {`run.text.contains("refund")`},
	"experiment.Measure.range":    {[]any{0, 10}},
	"experiment.Split.held_out":   {[]any{"shop/*"}},
	"experiment.Tune.path":        {"drive.loop.prompt"},
	"experiment.Measure.name":     {"pass", "cost_eur", "latency_p95"},
	"experiment.Fragment.options": {[]any{"Answer in one sentence.", ""}},

	"plan.Task.id":            {"build"},
	"plan.Task.do":            {"Make the tests of the parser pass."},
	"plan.Task.after":         {[]any{"build"}},
	"plan.Task.files":         {[]any{"parser.go", "parser_test.go"}},
	"plan.Acceptance.command": {[]any{"go", "test", "./..."}},
	"plan.Probe.command":      {[]any{"go", "vet", "./..."}},
	"plan.Probe.markers":      {[]any{"TODO", "FIXME"}},
	"plan.Worker.command":     {[]any{"sh", "work.sh"}},
}

// document adds defaults and examples to the keys of a schema. kind is the name of the format.
func document(kind string, whole *reflector.Schema) (used []string) {
	add := func(name string, s *reflector.Schema) {
		if s.Properties == nil {
			return
		}
		for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
			if value, ok := defaultIn(kind, pair.Value); ok {
				pair.Value.Default = value
			}
			if examples, ok := schemaExamples[name+"."+pair.Key]; ok {
				pair.Value.Examples = examples
				used = append(used, name+"."+pair.Key)
			}
		}
	}
	add(kind, whole)
	for name, s := range whole.Definitions {
		add(name, s)
	}
	return used
}

// documented visits each key of a schema with its path in the document.
func documented(kind string, visit func(path string, key map[string]any)) {
	var doc map[string]any
	Expect(json.Unmarshal(schema.Of(kind), &doc)).To(Succeed())
	keys := func(at string, s any) {
		properties, _ := s.(map[string]any)["properties"].(map[string]any)
		for name, key := range properties {
			if key, ok := key.(map[string]any); ok {
				visit(at+"/properties/"+name, key)
			}
		}
	}
	keys("", doc)
	defs, _ := doc["$defs"].(map[string]any)
	for name, def := range defs {
		keys("/$defs/"+strings.NewReplacer("~", "~0", "/", "~1", " ", "%20", "[", "%5B", "]", "%5D", "{", "%7B", "}", "%7D").Replace(name), def)
	}
}

var _ = Describe("The schema of each format", Label("R-06"), func() {
	for _, kind := range written {
		It("has defaults and examples that it takes itself: "+kind, func() {
			document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema.Of(kind))))
			Expect(err).NotTo(HaveOccurred())
			c := jsonschema.NewCompiler()
			Expect(c.AddResource("mem:///"+kind, document)).To(Succeed())
			checked := 0
			documented(kind, func(path string, key map[string]any) {
				values, _ := key["examples"].([]any)
				if value, ok := key["default"]; ok {
					values = append(values, value)
				}
				if len(values) == 0 {
					return
				}
				compiled, err := c.Compile("mem:///" + kind + "#" + path)
				Expect(err).NotTo(HaveOccurred(), path)
				for _, value := range values {
					Expect(compiled.Validate(value)).To(Succeed(), "%s: %v", path, value)
					checked++
				}
			})
			Expect(checked).To(BeNumerically(">=", 4))
		})
	}

	It("has the defaults of the runner loop in that of the configuration", func() {
		data, err := json.Marshal(loop.Defaults())
		Expect(err).NotTo(HaveOccurred())
		var real map[string]any
		Expect(json.Unmarshal(data, &real)).To(Succeed())
		checked := 0
		documented("config", func(path string, key map[string]any) {
			name, isOption := strings.CutPrefix(path, "/$defs/loop.Options/properties/")
			want, ok := key["default"]
			if !isOption || !ok || name == "backend" { // the backend is the command's
				return
			}
			got, shown := real[name]
			if !shown { // an option of something that is off
				return
			}
			if text, ok := want.(string); ok && key["pattern"] != nil {
				d, err := time.ParseDuration(text)
				Expect(err).NotTo(HaveOccurred(), name)
				want = quantity.Duration(d).String()
			}
			Expect(got).To(Equal(want), name)
			checked++
		})
		Expect(checked).To(BeNumerically(">=", 15))
	})

	DescribeTable("finds the default in a doc comment",
		func(kind, text string, enum []any, want any) {
			value, ok := defaultIn("config", &reflector.Schema{Type: kind, Description: text, Enum: enum})
			Expect(ok).To(Equal(want != nil))
			if ok {
				Expect(fmt.Sprint(value)).To(Equal(fmt.Sprint(want)))
			}
		},
		Entry(nil, "integer", "MaxIterations is at least 1; default 10.", nil, 10),
		Entry(nil, "integer", "is the number of repetitions; default 1; negative: none.", nil, 1),
		Entry(nil, "integer", "Unlike others. Default 500, in scenarios 0 (off).", nil, 500),
		Entry(nil, "integer", "overrides the agent's (default 5).", nil, 5),
		Entry(nil, "integer", "default nine tenths of HardCalls: 900.", nil, nil),
		Entry(nil, "number", "the risk; default 0.05.", nil, 0.05),
		Entry(nil, "boolean", "It waits. Default false.", nil, false),
		Entry(nil, "string", `Output: "text" (default), "json" or "jsonl".`, []any{"text", "json"}, "text"),
		Entry(nil, "string", `means done in marker mode; default "DONE".`, nil, "DONE"),
		Entry(nil, "string", "the stop guard decides. Default marker.", []any{"marker", "json"}, "marker"),
		Entry(nil, "string", "the answer; default: the body as text.", nil, nil),
		Entry(nil, "string", "no default here", nil, nil),
	)

	It("finds the default of a format in a doc comment", func() {
		s := &reflector.Schema{Type: "string", Description: "is for the whole run; default 0 (off); in scenarios 5m.", Pattern: `^[0-9]+m?$`}
		both := &reflector.Schema{Type: "integer", Description: "stops at once. Default 3, in scenarios and in plans 1; or 0 if it waits."}
		for format, want := range map[string][]any{"config": {"0", 3}, "scenario": {"5m", 1}, "plan": {"0", 1}} {
			value, _ := defaultIn(format, s)
			other, _ := defaultIn(format, both)
			Expect([]any{value, other}).To(Equal(want), format)
		}
	})
})
