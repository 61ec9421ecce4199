package plan_test

import (
	"bytes"
	"encoding/json"
	"reflect"

	reflector "github.com/invopop/jsonschema"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// schema returns that of a plan, as package scenarios generates it.
func schema() *jsonschema.Schema {
	GinkgoHelper()
	r := reflector.Reflector{FieldNameTag: "yaml", Anonymous: true, ExpandedStruct: true, Mapper: func(t reflect.Type) *reflector.Schema {
		if t == reflect.TypeFor[quantity.Duration]() || t == reflect.TypeFor[quantity.Money]() {
			return &reflector.Schema{Type: "string"}
		}
		return nil
	}, Namer: func(t reflect.Type) string { return t.String() }}
	data, err := json.Marshal(r.Reflect(plan.Plan{}))
	Expect(err).NotTo(HaveOccurred())
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	Expect(err).NotTo(HaveOccurred())
	c := jsonschema.NewCompiler()
	Expect(c.AddResource("plan.json", document)).To(Succeed())
	compiled, err := c.Compile("plan.json")
	Expect(err).NotTo(HaveOccurred())
	return compiled
}

// fits reports whether a plan's text fits the schema.
func fits(s *jsonschema.Schema, text string) bool {
	GinkgoHelper()
	var value any
	Expect(yaml.Load([]byte(text), &value)).To(Succeed())
	data, err := json.Marshal(value)
	Expect(err).NotTo(HaveOccurred())
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	Expect(err).NotTo(HaveOccurred())
	return s.Validate(document) == nil
}

var _ = Describe("the schema of a plan", func() {
	It("fits a plan", func() {
		Expect(fits(schema(), whole)).To(BeTrue())
		Expect(fits(schema(), one(""))).To(BeTrue())
	})

	DescribeTable("rejects errors that an editor can detect", func(text string) {
		Expect(fits(schema(), text)).To(BeFalse())
		refused(text)
	},
		Entry("an unknown key", one("limit: {}")),
		Entry("an unknown check", one("checks: {test: {command: [x]}}")),
		Entry("a probe of no kind", one("checks: {tests: {fix: x}}")),
		Entry("a probe of two kinds", one("checks: {tests: {command: [x], file: y}}")),
		Entry("a worker of no kind", one("workers: {w: {}}")),
		Entry("a worker of two kinds", one("workers: {w: {command: [x], loop: {}}}")),
		Entry("a bad id", of("{id: A, do: x}")),
		Entry("no tasks", "name: p\ntasks: []"),
		Entry("a limit below the minimum", one("limits: {rounds: 0}")),
		Entry("hard calls of which none is left to warn", one("limits: {hard_calls: 1}")),
	)
})
