package scenarios_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	reflector "github.com/invopop/jsonschema"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/cli/config"
	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/schema"
)

var update = flag.Bool("update", false, "write the schemas anew")

const module = "github.com/rehearse-dev/rehearse"

var formats = map[string]any{
	"scenario": scenarios.Scenario{},
	"script":   mocks.Script{},
	"config":   config.File{},
	"plan":     plan.Plan{},
	"agent":    agentfile.Front{},

	"experiment": experiment.File{},
}

// written are the formats that people write; package record has the schema of recordings.
var written = slices.DeleteFunc(schema.Kinds(), func(kind string) bool { return kind == "recording" })

// TestSchema checks that the committed schemas match the Go types. With
// -update it writes them.
func TestSchema(t *testing.T) {
	unused := maps.Clone(schemaExamples)
	for _, kind := range written {
		t.Run(kind, func(t *testing.T) {
			want, used := generate(t, kind)
			for _, key := range used {
				delete(unused, key)
			}
			file := filepath.Join("..", "schema", kind+".json")
			if *update {
				if err := os.WriteFile(file, want, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if !bytes.Equal(schema.Of(kind), want) {
				t.Errorf("%s is not that of the Go types; run: make schema", file)
			}
		})
	}
	for key := range unused {
		t.Errorf("schemaExamples: no schema has the key %s", key)
	}
}

// generate reflects the schema of a format, whose descriptions are the doc comments, and returns the keys that have
// examples.
func generate(t *testing.T, kind string) (data []byte, used []string) {
	t.Helper()
	r := reflector.Reflector{FieldNameTag: "yaml", Anonymous: true, ExpandedStruct: true, Namer: qualified}
	driven := reflector.Definitions{}
	r.Mapper = func(t reflect.Type) *reflector.Schema { return mapped(r, t, driven) }
	for _, folder := range []string{
		".", "../mocks", "../agents/loop", "../llm",
		"../agents/loop/kind", "../agents/stop/kind", "../agents/interview/kind", "../agents/interview/session", "../agents/persist/kind", "../agents/react/kind",
		"../harness/kind/function", "../harness/kind/command", "../harness/kind/http", "../harness/kind/container", "../harness/kind/coding",
		"../agents/persist/plan", "../agents/react", "../agents/react/agentfile",
		"../harness/experiment", "../cli/config", "requirement",
	} {
		// The base is the import path of the folder that the test runs in.
		if err := r.AddGoComments(module+"/scenarios", folder, reflector.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range r.CommentMap {
		r.CommentMap[name] = strings.Join(strings.Fields(text), " ")
	}
	whole := r.Reflect(formats[kind])
	maps.Copy(whole.Definitions, driven)
	used = document(kind, whole)
	data, err := json.MarshalIndent(whole, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n'), used
}

// qualified names a type with its package: there are two of the name Latency. Packages
// called kind are named after the agent beside them.
func qualified(t reflect.Type) string {
	if outer, ok := strings.CutSuffix(t.PkgPath(), "/kind"); ok {
		return path.Base(outer) + "." + t.Name()
	}
	return t.String()
}

// mapped is the schema of the types that are not what their fields are. The definitions
// that the kinds of agents need are put into driven.
func mapped(r reflector.Reflector, t reflect.Type, driven reflector.Definitions) *reflector.Schema {
	if t != reflect.TypeFor[scenarios.Drive]() {
		return quantitySchema(t)
	}
	one := uint64(1)
	drive := r.ReflectFromType(scenarios.DriveType(kinds.All().Formats()))
	maps.Copy(driven, drive.Definitions)
	drive.Version, drive.Definitions, drive.MinProperties, drive.MaxProperties = "", nil, &one, &one
	return drive
}

// quantitySchema is the schema of the types that are written as text.
func quantitySchema(t reflect.Type) *reflector.Schema {
	switch t {
	case reflect.TypeFor[quantity.Duration]():
		return &reflector.Schema{
			Type: "string", Pattern: `^(0|([0-9]*\.?[0-9]+(ns|us|µs|ms|s|m|h))+)$`,
			Examples: []any{"2s", "150ms", "1h30m"},
		}
	case reflect.TypeFor[quantity.Money]():
		return &reflector.Schema{
			Type: "string", Pattern: `^[0-9]*\.?[0-9]+ (EUR|USD)$`,
			Examples: []any{"0.01 EUR", "5 USD"},
		}
	}
	return nil
}

func compile(t testing.TB, kind string) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.Of(kind)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(kind, document); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(kind)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func instance(t testing.TB, text []byte) any {
	t.Helper()
	var v any
	if err := yaml.Load(text, &v); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

var _ = Describe("The schema", func() {
	It("takes every shipped scenario", func() {
		validator := compile(GinkgoTB(), "scenario")
		files, err := filepath.Glob("loop/*.yaml")
		Expect(err).ToNot(HaveOccurred())
		Expect(len(files)).To(BeNumerically(">=", 30))
		for _, file := range files {
			text, err := os.ReadFile(file)
			Expect(err).ToNot(HaveOccurred())
			Expect(validator.Validate(instance(GinkgoTB(), text))).To(Succeed(), file)
			Expect(string(text)).To(HavePrefix("# yaml-language-server: $schema=../../schema/scenario.json\n"), file)
		}
	})

	DescribeTable("refuses what the parser refuses",
		func(text string) {
			validator := compile(GinkgoTB(), "scenario")
			Expect(validator.Validate(instance(GinkgoTB(), []byte(right)))).To(Succeed())
			Expect(validator.Validate(instance(GinkgoTB(), []byte(text)))).ToNot(Succeed())
			_, found := parse(text)
			Expect(found).ToNot(BeEmpty())
		},
		Entry("unknown key", right+"colour: red\n"),
		Entry("missing key", "name: a\n"),
		Entry("no agent", change("loop: {prompt: Work.}", "{}")),
		Entry("bad name", change("name: a/b", "name: A b")),
		Entry("wrong type", change("calls: 2", "calls: two")),
		Entry("below the minimum", right+"trials: 0\n"),
		Entry("unknown word", change("model:", "as: opnai\n  model:")),
		Entry("unknown fault", change("text: One", "fault: burn")),
		Entry("bad duration", change("text: One", "latency: 2, text: One")),
		Entry("bad amount", change("calls: 2", "cost: {at_most: 1 CHF}")),
	)

	It("of scripts and of the configuration takes good files and refuses bad ones", func() {
		script, config := compile(GinkgoTB(), "script"), compile(GinkgoTB(), "config")
		Expect(script.Validate(instance(GinkgoTB(), []byte("replies: [{text: x, latency: 2s}]")))).To(Succeed())
		Expect(script.Validate(instance(GinkgoTB(), []byte("replies: [{txt: x}]")))).ToNot(Succeed())
		Expect(config.Validate(instance(GinkgoTB(), []byte("loop: {max_iterations: 3, timeout: 1m}")))).To(Succeed())
		Expect(config.Validate(instance(GinkgoTB(), []byte("loop: {max_iterations: 0}")))).ToNot(Succeed())
	})

	It("of experiments takes the example and refuses what is not in the format", func() {
		validator := compile(GinkgoTB(), "experiment")
		text, err := os.ReadFile("../examples/experiment/mirror.yaml")
		Expect(err).ToNot(HaveOccurred())
		Expect(string(text)).To(HavePrefix("# yaml-language-server: $schema=../../schema/experiment.json\n"))
		Expect(validator.Validate(instance(GinkgoTB(), text))).To(Succeed())
		for _, bad := range []string{"alpha: 2", "colour: red", "scope: all"} {
			Expect(validator.Validate(instance(GinkgoTB(), append([]byte(bad+"\n"), text...)))).ToNot(Succeed(), bad)
		}
	})

	It("describes each key, which editors show", func() {
		for _, kind := range written {
			var document map[string]any
			Expect(json.Unmarshal(schema.Of(kind), &document)).To(Succeed())
			Expect(undescribed(document)).To(BeEmpty(), kind)
		}
		Expect(undescribed(map[string]any{"$defs": map[string]any{"a.B": map[string]any{
			"oneOf": []any{map[string]any{"properties": map[string]any{"c": map[string]any{"type": "string"}}}},
		}}})).To(Equal([]string{"$defs.a.B.oneOf[0].c"}))
	})

	It("exists for every kind, and for no other", func() {
		for _, kind := range written {
			Expect(json.Valid(schema.Of(kind))).To(BeTrue(), kind)
		}
		Expect(schema.Of("schema")).To(BeNil())
	})
})

// undescribed returns the paths of the keys in a schema that have no description, neither of their own nor by the
// definition that they refer to.
func undescribed(document map[string]any) (paths []string) {
	definitions, _ := document["$defs"].(map[string]any)
	described := func(v any) bool {
		s, _ := v.(map[string]any)
		name, _ := s["$ref"].(string)
		definition, _ := definitions[strings.TrimPrefix(name, "#/$defs/")].(map[string]any)
		return s["description"] != nil || definition["description"] != nil || v == true
	}
	var walk func(v any, path string)
	walk = func(v any, path string) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if key != "properties" {
					walk(v[key], path+"."+key)
					continue
				}
				properties, _ := v[key].(map[string]any)
				for _, name := range slices.Sorted(maps.Keys(properties)) {
					if !described(properties[name]) {
						paths = append(paths, path+"."+name)
					}
					walk(properties[name], path+"."+name)
				}
			}
		case []any:
			for i, inner := range v {
				walk(inner, fmt.Sprintf("%s[%d]", path, i))
			}
		}
	}
	walk(document, "")
	for i, path := range paths {
		paths[i] = strings.TrimPrefix(path, ".")
	}
	return paths
}
