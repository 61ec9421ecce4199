package record_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"

	reflector "github.com/invopop/jsonschema"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
	"github.com/rehearse-dev/rehearse/schema"
)

var update = flag.Bool("update", false, "write schema/recording.json anew")

// lineTypes are the values of the lines of a recording, by their type.
var lineTypes = []struct {
	name  string
	value any
}{
	{"run", record.Run{}},
	{"scenario", record.Scenario{}},
	{"trial", record.TrialHead{}},
	{"message", record.Message{}},
	{"call", record.Call{}},
	{"exchange", record.Exchange{}},
	{"event", record.Event{}},
	{"script", record.Script{}},
	{"end", record.End{}},
	{"close", record.Close{}},
}

var _ = Describe("The JSON Schema of recordings", Label("H-05"), func() {
	It("is that of the Go types", func() {
		want := lineSchema()
		if *update {
			Expect(os.WriteFile("../../schema/recording.json", want, 0o600)).To(Succeed())
			return
		}
		Expect(string(schema.Of("recording"))).To(Equal(string(want)), "run: make schema")
	})

	It("accepts every line of a recording, and no other line", func() {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.Of("recording")))
		Expect(err).NotTo(HaveOccurred())
		c := jsonschema.NewCompiler()
		Expect(c.AddResource("recording.json", document)).To(Succeed())
		compiled, err := c.Compile("recording.json")
		Expect(err).NotTo(HaveOccurred())
		validate := func(line string) error {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
			Expect(err).NotTo(HaveOccurred())
			return compiled.Validate(value)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(recording()) {
			Expect(validate(line)).To(Succeed(), line)
			var head struct{ Type string }
			Expect(json.Unmarshal([]byte(line), &head)).To(Succeed())
			seen[head.Type] = true
		}
		Expect(seen).To(HaveLen(len(lineTypes)), "the sample has a line of each type")
		for _, line := range []string{
			`{"type":"close","trials":1}`, `{"hash":"` + strings.Repeat("0", 32) + `","seq":1,"type":"other"}`,
			`{"hash":"` + strings.Repeat("0", 32) + `","seq":1,"type":"close"}`, `{"hash":"x","seq":1,"type":"close","trials":1}`,
		} {
			Expect(validate(line)).NotTo(Succeed(), line)
		}
	})
})

// lineSchema reflects the schema of a line. Readers must accept members and types of events that they do not know.
func lineSchema() []byte {
	GinkgoHelper()
	definitions, alternatives := map[string]any{}, []any{}
	for _, line := range lineTypes {
		r := reflector.Reflector{Anonymous: true, AllowAdditionalProperties: true, ExpandedStruct: true, Namer: named, Mapper: opaque}
		for _, folder := range []string{".", "../../llm", "../../llm/price", "../../event"} {
			Expect(r.AddGoComments("github.com/rehearse-dev/rehearse/harness/record", folder, reflector.WithFullComment())).To(Succeed())
		}
		text, err := json.Marshal(r.Reflect(line.value))
		Expect(err).NotTo(HaveOccurred())
		var one map[string]any
		Expect(json.Unmarshal(text, &one)).To(Succeed())
		for name, d := range asMap(one["$defs"]) {
			definitions[name] = d
		}
		delete(one, "$defs")
		delete(one, "$schema")
		asMap(one["properties"])["type"] = map[string]any{"const": line.name}
		required, _ := one["required"].([]any)
		one["required"] = append([]any{"type"}, required...)
		definitions[line.name] = one
		alternatives = append(alternatives, map[string]any{"$ref": "#/$defs/" + line.name})
	}
	text, err := json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "A line of a rehearse recording (" + record.Schema + ")",
		"type":    "object",
		"properties": map[string]any{
			"hash": map[string]any{"type": "string", "pattern": "^[0-9a-f]{32}$", "description": "Links the line to the one before; see docs/reference/recording.md."},
			"seq":  map[string]any{"type": "integer", "minimum": 1, "description": "The number of the line."},
		},
		"required": []string{"hash", "seq", "type"},
		"oneOf":    alternatives,
		"$defs":    definitions,
	}, "", "  ")
	Expect(err).NotTo(HaveOccurred())
	return append(text, '\n')
}

func asMap(v any) map[string]any { m, _ := v.(map[string]any); return m }

// named keeps types apart that have the same name in different packages.
func named(t reflect.Type) string { return t.String() }

// opaque are types whose content has its own description: expectations are those of scenario files.
func opaque(t reflect.Type) *reflector.Schema {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return reflector.TrueSchema
	case reflect.TypeFor[expect.Expect]():
		return &reflector.Schema{Type: "object"}
	}
	return nil
}
