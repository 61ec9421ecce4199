package mcp_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

var _ = DescribeTable("The schema of a tool's arguments", Label("H-04"),
	func(properties string, want ...any) {
		var servers []mcp.Server
		text := "[{name: a, tools: [{name: f, input: {type: object, properties: " + properties + "}, replies: [{text: x}]}]}]"
		Expect(yaml.Load([]byte(text), &servers, yaml.WithKnownFields())).To(Succeed())
		var found []string
		for _, p := range mcp.Validate(servers) {
			found = append(found, p.String())
		}
		if len(want) == 0 {
			Expect(found).To(BeEmpty())
			return
		}
		Expect(found).To(HaveExactElements(want...))
	},
	Entry("may have all types and keywords of its own",
		"{a: {type: [string, 'null'], x-order: 1, example: z}, b: {type: array, items: {type: integer, nullable: true}}, c: true}"),
	Entry("may have properties whose names are similar to keywords", "{tpye: {type: string}, typ: {}}"),
	Entry("is not misread in values", "{a: {enum: [{type: integr}], default: {tpye: 1}}}"),
	Entry("has types of JSON Schema", "{n: {type: integr}}",
		And(HavePrefix("[0].tools[0].input.properties.n.type: integr is not a type of JSON Schema; there are string, integer"),
			HaveSuffix(`did you mean "integer"?`))),
	Entry("has such types in lists, too", "{a.b: {type: [string, nil]}}",
		HavePrefix(`[0].tools[0].input.properties["a.b"].type: nil is not a type of JSON Schema`)),
	Entry("has no misspelled keywords", "{n: {tpye: integer}}",
		And(HavePrefix(`[0].tools[0].input.properties.n.tpye: "tpye" is not a keyword of JSON Schema`), HaveSuffix(`did you mean "type"?`))),
	Entry("is checked in schemas within it", "{a: {anyOf: [{type: strin}, {items: {type: boolen}}], $defs: {d: {minLenght: 1}}}}",
		HavePrefix("[0].tools[0].input.properties.a.$defs.d.minLenght"), HavePrefix("[0].tools[0].input.properties.a.anyOf[0].type"),
		HavePrefix("[0].tools[0].input.properties.a.anyOf[1].items.type")),
)
